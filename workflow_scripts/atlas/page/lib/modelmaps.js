/** All heads of a model on one text: which tokens their maps are of, and what a small map shows. */

import { once } from "./once.js";
import { ofType, queriesOf } from "./pairtexts.js";

/**
 * The maps of a text by type of attention, which have their own tokens; a model without types has one block.
 * @param {object} model
 * @param {object} segment
 * @param {string} state
 * @returns {{id: string|null, type?: string, title?: string, first: number, layers: number, queries: object, keys: object}[]}
 *   first: row of heads at which it begins; queries, keys: {tokens, word}
 */
export function blocksOf(model, segment, state) {
  let next = 0;
  return (model.types ?? [model]).map(({ name, title, n_layers: layers }) => {
    const first = next;
    next += layers;
    const read = ofType(segment, name);
    const types = model.types && { type: name, title };
    return { ...types, id: read.maps[state] ?? null, first, layers, queries: queriesOf(read), keys: read };
  });
}

/**
 * The rows and columns of a block's maps that are shown.
 * @param {{queries: object, keys: object}} block
 * @param {{words?: boolean, first?: boolean}} how  words: without special tokens; first: without the first key
 * @returns {{rows: number[], columns: number[]}}
 */
export function placesOf({ queries, keys }, { words = false, first = false } = {}) {
  const chosen = ({ tokens, word }) => tokens.map((_, index) => index).filter((index) => !words || word[index] >= 0);
  return { rows: chosen(queries), columns: chosen(keys).filter((key) => !first || key > 0) };
}

/**
 * How many tokens a point of a map stands for, so that it has at most `most` points in a row and in a column.
 * @param {{rows: number[], columns: number[]}} places
 * @param {number} most
 * @returns {number}
 */
export function stepOf({ rows, columns }, most) {
  return Math.max(1, Math.ceil(Math.max(rows.length, columns.length) / most));
}

/**
 * A map with one point for each step x step weights, the largest of them.
 * @param {Float32Array} map  [query, key]
 * @param {number} width  keys in a row of the map
 * @param {{rows: number[], columns: number[]}} places
 * @param {number} step
 * @returns {{width: number, height: number, values: Float32Array}}
 */
export function pooled(map, width, { rows, columns }, step) {
  const [across, down] = [Math.ceil(columns.length / step), Math.ceil(rows.length / step)];
  const values = new Float32Array(across * down);
  rows.forEach((query, row) => {
    const start = Math.floor(row / step) * across;
    columns.forEach((key, column) => {
      const at = start + Math.floor(column / step);
      values[at] = Math.max(values[at], map[query * width + key]);
    });
  });
  return { width: across, height: down, values };
}

/**
 * The token that is attended to most, and the attention that it has, the mean over the rows.
 * @param {Float32Array} map  [query, key]
 * @param {number} width  keys in a row of the map
 * @param {{rows: number[], columns: number[]}} places
 * @returns {{key: number, mean: number}|null}  null of no token
 */
export function mostAttended(map, width, { rows, columns }) {
  let best = null;
  for (const key of columns) {
    const mean = rows.reduce((sum, query) => sum + map[query * width + key], 0) / rows.length;
    if (best === null || mean > best.mean) best = { key, mean };
  }
  return rows.length > 0 ? best : null;
}

/** Colours from 0 to 1 as a canvas takes them, 256 of them in one number each, from a ramp's [red, green, blue]. */
export const tableOf = once((colour) =>
  Uint32Array.from({ length: 256 }, (_, index) => {
    const [red, green, blue] = colour(index / 255);
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  }),
);

/**
 * The pixels of a map, coloured by the root of each weight: the same for all maps, from 0 to 1.
 * @param {{values: Float32Array}} small
 * @param {Uint32Array} table
 * @returns {Uint8ClampedArray}  red, green, blue, opacity
 */
export function pixelsOf({ values }, table) {
  const pixels = Uint32Array.from(values, (weight) => table[Math.min(255, Math.round(255 * Math.sqrt(weight)))]);
  return new Uint8ClampedArray(pixels.buffer);
}
