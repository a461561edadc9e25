/**
 * Colours, the same as in the figures: matplotlib's "Blues" and "RdBu_r" (workflow_scripts/core/plots/),
 * and Okabe and Ito's palette. Between its points a ramp is linear in red, green and blue, as matplotlib's
 * are; tests/atlas/test_ramps.py holds them to matplotlib's. On a dark page more is brighter: "Blues"
 * from its dark end, and matplotlib's "berlin", whose centre is dark.
 */

export const BLUES = [
  "#f7fbff", "#deebf7", "#c6dbef", "#9dcae1", "#6aaed6", "#4191c6", "#2070b4", "#08509b", "#08306b",
];
export const RED_BLUE = [
  "#053061", "#2065ab", "#4393c3", "#90c4dd", "#d1e5f0", "#f7f6f6", "#fddbc7", "#f3a481", "#d6604d", "#b1182b",
  "#67001f",
];
export const BERLIN = [
  "#9eb0ff", "#79abed", "#519fd3", "#3685ad", "#286886", "#1d4b61", "#14303e", "#111a20", "#190c09", "#2b0e01",
  "#411201", "#5b1d08", "#7d341e", "#9e513f", "#be6f63", "#df8f89", "#ffadad",
];
export const CATEGORIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
