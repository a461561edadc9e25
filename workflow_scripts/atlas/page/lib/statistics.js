/** Orders and means over heads; unknown values are null and stay out. */

import { holds, ranks } from "./measures.js";

/** The mean of the known values, or null. */
export function mean(values) {
  const known = values.filter((one) => one !== null);
  return known.length ? known.reduce((sum, one) => sum + one, 0) / known.length : null;
}

/** The mean of each layer, layer 1 first. */
export function layerMeans(measure, { n_layers: layers, n_heads: heads }) {
  return Array.from({ length: layers }, (_, layer) => mean(measure.value.slice(layer * heads, (layer + 1) * heads)));
}

/** How many heads of each layer are in each category, [layer][category]. */
export function layerCounts(measure, { n_layers: layers, n_heads: heads }) {
  return Array.from({ length: layers }, (_, layer) => {
    const row = measure.value.slice(layer * heads, (layer + 1) * heads);
    return measure.categories.map((_category, number) => row.filter((one) => one === number).length);
  });
}

/**
 * Heads in the order of a list.
 * @param {object} measure
 * @param {string} key  "head", "value", "low", "high", "rank", "null", "holds", "n", "p" or "label"; with "-" before it descending
 * @returns {number[]}  indices; heads without that number come last
 */
export function listed(measure, key) {
  const sign = key.startsWith("-") ? -1 : 1;
  const column = key.replace("-", "");
  const of = (index) => part(measure, column, index) ?? null;
  return measure.value
    .map((_, index) => index)
    .sort((a, b) => {
      const [one, other] = [of(a), of(b)];
      if (one === null || other === null) return (one === null) - (other === null) || a - b;
      return sign * (one < other ? -1 : Number(one > other)) || a - b;
    });
}

function part(measure, column, index) {
  if (column === "head") return index;
  if (column === "rank") return ranks(measure)[index];
  if (column === "holds") return holds(measure, index);
  const values = measure[column];
  return Array.isArray(values) ? values[index] : values;
}
