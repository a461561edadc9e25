/**
 * Colours, the same as in the figures (workflow_scripts/core/plots/colours.py): matplotlib's "Blues" and
 * "RdBu_r", Okabe and Ito's palette, and what a colour means where kinds have names. Between its points a ramp is linear in red, green and blue, as matplotlib's
 * are; tests/atlas/test_ramps.py holds them to matplotlib's. On a dark page more is brighter: "Blues"
 * from its dark end, and matplotlib's "berlin", whose centre is dark.
 */

export const BLUES = [
  "#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b",
];
export const RED_BLUE = [
  "#053061", "#2166ac", "#4393c3", "#92c5de", "#d1e5f0", "#f7f7f7", "#fddbc7", "#f4a582", "#d6604d", "#b2182b",
  "#67001f",
];
export const BERLIN = [
  "#9eb0ff", "#86adf3", "#6ca9e6", "#529fd3", "#3d8fbb", "#307ca0", "#286886", "#21556e", "#1a4256",
  "#14313f", "#11212a", "#111518", "#190c09", "#240c02", "#310f00", "#401201", "#501803", "#65220d",
  "#7c331d", "#924632", "#a75949", "#bc6e61", "#d2827a", "#e89893", "#ffadad",
];
export const CATEGORIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

// Kinds of tokens, kinds of heads, what disabling them shows, classes of maps.
export const NAMED = {
  cls: "#0072b2", "[CLS]": "#0072b2", sep: "#d55e00", "[SEP]": "#d55e00", punctuation: "#009e73", ". or ,": "#009e73",
  previous: "#cc79a7", "previous token": "#cc79a7", next: "#56b4e9", "next token": "#56b4e9", self: "#000000",
  "same token": "#000000", broad: "#882255", other: "#cccccc", unclassified: "#cccccc", syntactic: "#332288",
  first: "#332288", "first token": "#332288",
  coreference: "#d55e00", "same word": "#009e73", frames: "#f0e442", position: "#cc79a7", "special tokens": "#0072b2", vertical: "#0072b2", diagonal: "#d55e00",
  loss: "#b2182b", gain: "#2166ac", equivalent: "#009e73", "cannot tell": "#cccccc",
  "in all modes": "#b2182b", "depends on the mode": "#cc79a7", "in some modes": "#e69f00", "no effect shown": "#cccccc",
  "vertical+diagonal": "#cc79a7", "vertical and diagonal": "#cc79a7", block: "#f0e442", heterogeneous: "#cccccc",
};
// What is too dark to be seen on a dark page, lighter.
export const ON_DARK = { "#000000": "#f2f2f2", "#0072b2": "#4fa3f0", "#332288": "#8f84d6", "#882255": "#d0749b", "#cccccc": "#8a8f96", "#b2182b": "#d2827a", "#2166ac": "#6ca9e6" };
