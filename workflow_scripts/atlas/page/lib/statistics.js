/** Orders and means over heads; unknown values are null and stay out. */

import { ranks } from "./measures.js";

/** The mean of the known values, or null. */
export function mean(values) {
  const known = values.filter((one) => one !== null);
  return known.length ? known.reduce((sum, one) => sum + one, 0) / known.length : null;
}

/** The mean of each layer, layer 1 first. */
export function layerMeans(measure, { n_layers: layers, n_heads: heads }) {
  return Array.from({ length: layers }, (_, layer) => mean(measure.value.slice(layer * heads, (layer + 1) * heads)));
}

/** Indices of heads, the first in rank first: the highest value, or the lowest where lower is better; unknown ones last. */
export function listed(measure) {
  const rank = (index) => ranks(measure)[index] ?? Infinity;
  return measure.value.map((_, index) => index).sort((a, b) => rank(a) - rank(b) || a - b);
}
