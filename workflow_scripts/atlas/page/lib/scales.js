/** From values to colours and positions. */

import { extent, intervalOf } from "./measures.js";
import { once } from "./once.js";
import { BERLIN, BLUES, CATEGORIES, NAMED, ON_DARK, RED_BLUE } from "./ramps.js";

/**
 * The colour at `share` (0 to 1) of a ramp.
 * @param {string[]} ramp  "#rrggbb"
 * @param {number} share
 * @returns {string} "#rrggbb"
 */
export function mix(ramp, share) {
  const place = Math.min(1, Math.max(0, share)) * (ramp.length - 1);
  const start = Math.min(ramp.length - 2, Math.floor(place));
  const [from, to] = [channels(ramp[start]), channels(ramp[start + 1])];
  return hex(from.map((one, index) => one + (to[index] - one) * (place - start)));
}

/** "#rrggbb" of [red, green, blue]. */
export function hex(parts) {
  return `#${parts.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

/** [red, green, blue] of "#rrggbb". */
export function channels(colour) {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
}

// One of 256 levels, as matplotlib takes them.
function level(share) {
  return Math.min(255, Math.floor(share * 256)) / 255;
}

/** The ramp of a scale ("sequential" or "diverging") on a light or dark page; `down`: of falling values. */
export function ramp(scale, dark, down = false) {
  const points = scale === "diverging" ? (dark ? BERLIN : RED_BLUE) : BLUES;
  return down === (dark && scale !== "diverging") ? points : points.toReversed();
}

/** The ramp of a map's weights, whose zero is the page. */
export function ofWeights(dark) {
  return dark ? ["#14171b", ...BLUES.toReversed()] : BLUES;
}

/** Whether a measure's colours are those of falling values: where a score that falls is harm, and where less similarity is more change. */
export function isDown({ scale, better, harm }) {
  return scale === "diverging" ? harm === "low" : better === "low";
}

/**
 * The colours of a measure's categories: those that the figures give to kinds of these names, else by number.
 * @param {string[]} categories
 * @param {boolean} dark
 * @returns {string[]}
 */
export function palette(categories, dark) {
  const named = categories.every((name) => Object.hasOwn(NAMED, name));
  if (!named) return categories.map((_, index) => category(index, dark));
  return categories.map((name) => (dark && ON_DARK[NAMED[name]]) || NAMED[name]);
}

/** The colour of the thing of a number, without a meaning of its own; the eighth and later ones are greys. */
export function category(index, dark) {
  if (index < CATEGORIES.length) return (dark && ON_DARK[CATEGORIES[index]]) || CATEGORIES[index];
  return ["#8a8a8a", "#b8b8b8", "#5c5c5c"][(index - CATEGORIES.length) % 3];
}

/** Relative luminance (WCAG 2), 0 to 1. */
export function luminance(colour) {
  const [red, green, blue] = channels(colour).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Black or white, whichever is read better on `colour`. */
export function onTop(colour) {
  const light = luminance(colour);
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? "#ffffff" : "#000000";
}

/**
 * The range that a measure's colours span, in round numbers. A diverging one is centred at its null
 * (zero where each head has its own); another begins at zero where its lowest value is below half of
 * its highest.
 * @param {object} measure
 * @returns {number[]|null}  [low, high]; null where no value is known
 */
export function domain(measure) {
  const range = extent(measure);
  if (!range) return null;
  const none = typeof measure.null === "number" ? measure.null : null;
  if (measure.scale === "diverging") {
    const centre = none ?? 0;
    const reach = roundUp(Math.max(Math.abs(range[0] - centre), Math.abs(range[1] - centre)) || 1);
    return [centre - reach, centre + reach];
  }
  let [low, high] = none === null ? range : [Math.min(range[0], none), Math.max(range[1], none)];
  if (low >= 0 && low < high / 2) low = 0;
  const step = roundStep((high - low || Math.abs(high) || 1) / 20);
  low = Math.floor(low / step + 1e-9) * step;
  high = Math.ceil(high / step - 1e-9) * step;
  return low < high ? [low, high] : [low, low + step];
}

/**
 * The range of a line with the heads' intervals: that of the colours, widened to hold them.
 * @returns {number[]}
 */
export const reach = once((measure) => {
  const ends = measure.value.map((_, index) => intervalOf(measure, index)).filter(Boolean).flat();
  const all = [...measure.value, ...ends, ...[measure.null].flat()].filter((one) => typeof one === "number");
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const step = roundStep((high - low || Math.abs(high) || 1) / 10);
  const range = [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
  return low < high ? range : [low - step, high + step];
});

/** 1, 2 or 5 times a power of ten: the nearest such step not below `size`. */
export function roundStep(size) {
  const power = 10 ** Math.floor(Math.log10(size));
  return power * ([1, 2, 5].find((step) => step * power >= size * (1 - 1e-9)) ?? 10);
}

function roundUp(size) {
  const step = roundStep(size / 10);
  return Math.ceil(size / step - 1e-9) * step;
}

/** Round numbers from low to high, about `count` of them. */
export function ticks([low, high], count) {
  const step = roundStep((high - low) / count);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** Decimals that distinguish the ticks. */
export function tickDecimals(values) {
  const step = values.length > 1 ? values[1] - values[0] : Math.abs(values[0]) || 1;
  return Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
}

/**
 * From a value of the measure to its colour; null for an unknown value.
 * @param {object} measure
 * @param {boolean} dark
 * @returns {function(number|null): (string|null)}
 */
export function colours(measure, dark) {
  if (measure.scale === "category") {
    const found = palette(measure.categories, dark);
    return (value) => (value === null ? null : found[value]);
  }
  const points = ramp(measure.scale, dark, isDown(measure));
  const [low, high] = domain(measure) ?? [0, 1];
  return (value) => (value === null ? null : mix(points, level((value - low) / (high - low))));
}
