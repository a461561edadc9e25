/** Maps without the first token, on which many heads of decoders rest. */

export const FIRST_NOTE = "Without the first token: the other weights of each row are scaled to sum to 1; a row of which nothing is left, to the rounding of a byte, is blank.";

/** Whether the address hides the first token of a model's maps: a decoder's, where it takes what has no other goal. */
export function firstHidden(model, state) {
  return Boolean(model.causal) && state.first === "hidden";
}

/**
 * A map whose first key has no weight, and the other weights of each row scaled to sum to 1.
 * @param {Float32Array} map  [query, key]
 * @param {number} keys
 * @returns {{map: Float32Array, empty: number[]}}  empty: queries with no weight on any other key, whose rows are 0
 */
export function withoutFirst(map, keys) {
  const scaled = new Float32Array(map.length);
  const empty = [];
  for (let start = 0; start < map.length; start += keys) {
    let rest = 0;
    for (let index = start + 1; index < start + keys; index++) rest += map[index];
    if (rest === 0) empty.push(start / keys);
    else for (let index = start + 1; index < start + keys; index++) scaled[index] = map[index] / rest;
  }
  return { map: scaled, empty };
}
