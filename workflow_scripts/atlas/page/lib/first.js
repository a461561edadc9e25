/** Maps without the first token, on which many heads of decoders rest. */

import { number } from "./format.js";
import { shown } from "./tokens.js";

const NAMED = 6; // tokens of which nothing is left

/** Whether the address hides the first token of a model's maps: a decoder's, where it takes what has no other goal. */
export function firstHidden(model, state) {
  return Boolean(model.causal) && state.first === "hidden";
}

/**
 * A map whose first key has no weight, and the other weights of each row scaled to sum to 1.
 * @param {Float32Array} map  [query, key]
 * @param {number} keys
 * @returns {{map: Float32Array, empty: number[], share: number}}  empty: queries with no weight on any other key,
 *   whose rows are 0; share: of the attention that the first key had, the mean over the queries
 */
export function withoutFirst(map, keys) {
  const scaled = new Float32Array(map.length);
  const empty = [];
  let share = 0;
  for (let start = 0; start < map.length; start += keys) {
    let rest = 0;
    for (let index = start + 1; index < start + keys; index++) rest += map[index];
    share += map[start] / (map[start] + rest || 1);
    if (rest === 0) empty.push(start / keys);
    else for (let index = start + 1; index < start + keys; index++) scaled[index] = map[index] / rest;
  }
  return { map: scaled, empty, share: (share * keys) / map.length };
}

/**
 * What is hidden of a head's map, and the rows of which nothing is left, in sentences.
 * @param {{share: number, empty: number[], tokens: string[], queries: string[]}} map  tokens: attended to
 * @returns {string[]}
 */
export function firstNotes({ share, empty, tokens, queries }) {
  const names = empty.slice(0, NAMED).map((query) => `\u201c${shown(queries[query])}\u201d (token ${query + 1})`);
  return [
    `Without the first token, \u201c${shown(tokens[0])}\u201d, which has ${number(100 * share, 1)}% of the attention on average: the other weights of each row are scaled to sum to 1, and their rounding with them.`,
    empty.length > 0 && `Nothing is left, to the rounding of a byte, in ${empty.length} of ${queries.length} rows: ${names.join(", ")}${empty.length > NAMED ? " and others" : ""}.`,
  ].filter(Boolean);
}
