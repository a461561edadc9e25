/** Orders, means and correlations over heads; unknown values are null and stay out. */

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

/** The mean of each head's number over the layers. */
export function headMeans(measure, { n_heads: heads }) {
  return Array.from({ length: heads }, (_, head) => mean(measure.value.filter((_one, index) => index % heads === head)));
}

/** How many heads of each layer are in each category, [layer][category]. */
export function layerCounts(measure, { n_layers: layers, n_heads: heads }) {
  return Array.from({ length: layers }, (_, layer) => {
    const row = measure.value.slice(layer * heads, (layer + 1) * heads);
    return measure.categories.map((_category, number) => row.filter((one) => one === number).length);
  });
}

/**
 * Heads in the order of a picture, [layer][place].
 * @param {boolean} byValue  the best first within each layer, unknown ones last; else by number
 */
export function ordered(measure, { n_layers: layers, n_heads: heads }, byValue) {
  return Array.from({ length: layers }, (_, layer) => {
    const row = Array.from({ length: heads }, (_head, head) => layer * heads + head);
    return byValue ? row.sort((a, b) => place(measure, a) - place(measure, b) || a - b) : row;
  });
}

function place(measure, index) {
  const order = measure.scale === "category" ? measure.value : ranks(measure);
  return order[index] ?? Number.MAX_SAFE_INTEGER;
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

/** Ranks from 1, equal values sharing their mean rank. */
export function meanRanks(values) {
  const order = values.map((_, index) => index).sort((a, b) => values[a] - values[b]);
  const found = Array.from({ length: values.length });
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && values[order[end]] === values[order[start]]) end++;
    for (let at = start; at < end; at++) found[order[at]] = (start + end + 1) / 2;
    start = end;
  }
  return found;
}

/**
 * Spearman's rank correlation of two measures, with ties sharing their mean rank.
 * @param {(number|null)[]} x
 * @param {(number|null)[]} y
 * @returns {{rho: number|null, n: number}}  over the n heads that have both; null where one is constant
 */
export function spearman(x, y) {
  const both = x.map((_, index) => index).filter((index) => x[index] !== null && y[index] !== null);
  const [a, b] = [x, y].map((values) => meanRanks(both.map((index) => values[index])));
  const middle = (both.length + 1) / 2;
  let [product, left, right] = [0, 0, 0];
  both.forEach((_, at) => {
    product += (a[at] - middle) * (b[at] - middle);
    left += (a[at] - middle) ** 2;
    right += (b[at] - middle) ** 2;
  });
  return { rho: left > 0 && right > 0 ? product / Math.sqrt(left * right) : null, n: both.length };
}
