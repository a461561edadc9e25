/** Distances between heads, and the heads nearest to one. Heads are numbered layer by layer, from 0. */

import { jensenShannon } from "./maps.js";

/**
 * Place of the pair (i, j) in the upper triangle of an n x n table, row by row without the diagonal.
 * @param {number} i
 * @param {number} j
 * @param {number} n
 * @returns {number}
 */
export function place(i, j, n) {
  const [low, high] = i < j ? [i, j] : [j, i];
  return low * n - (low * (low + 1)) / 2 + (high - low - 1);
}

/**
 * Distances of head i to all n heads, null to itself.
 * @param {number[]} triangle  n * (n - 1) / 2 distances
 * @param {number} i
 * @param {number} n
 * @returns {(number|null)[]}
 */
export function fromTable(triangle, i, n) {
  return Array.from({ length: n }, (_, j) => (i === j ? null : triangle[place(i, j, n)]));
}

/**
 * Distances of head i to all heads on one text, null to itself.
 * @param {object} maps  as `readable` of maps.js gives them
 * @param {number} i
 * @returns {(number|null)[]}
 */
export function fromMaps(maps, i) {
  const [layers, heads, , keys] = maps.shape;
  const own = maps.head(Math.floor(i / heads), i % heads);
  return Array.from({ length: layers * heads }, (_, j) =>
    i === j ? null : jensenShannon(own, maps.head(Math.floor(j / heads), j % heads), keys),
  );
}

/**
 * The `count` heads with the smallest distances, nearest first; equal distances in the heads' order.
 * @param {(number|null)[]} distances
 * @param {number} count
 * @returns {{index: number, distance: number}[]}
 */
export function nearest(distances, count) {
  return distances
    .map((distance, index) => ({ index, distance }))
    .filter(({ distance }) => distance !== null && !Number.isNaN(distance))
    .sort((a, b) => a.distance - b.distance || a.index - b.index)
    .slice(0, count);
}
