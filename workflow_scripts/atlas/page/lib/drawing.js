/** What is drawn of a map: lines by their opacity, runs of equal cells, a token's strongest links. */

import { channels, mix } from "./scales.js";

const LEVELS = 24; // of opacity; lines of one level are one path, which a browser draws fast

/**
 * The weights of at least `faintest`, in levels of opacity: its root, so that small weights can be seen.
 * @param {Float32Array} map  [query, key]
 * @param {{faintest: number, only?: {query?: number, key?: number}, hidden?: boolean[],
 *   hiddenQueries?: boolean[], keys?: number}} how
 *   `only` keeps one query's or one key's lines; lines to `hidden` keys and from hidden queries, the same
 *   unless stated, are left out; `keys`: how many there are, as many as queries unless stated
 * @returns {{opacity: number, pairs: number[][]}[]}  levels; pairs of [query, key]
 */
export function lines(map, { faintest, only = {}, hidden = [], hiddenQueries = hidden, keys = side(map) }) {
  const levels = Array.from({ length: LEVELS }, (_, level) => ({ opacity: (level + 1) / LEVELS, pairs: [] }));
  for (let query = 0; query < map.length / keys; query++) {
    if (hiddenQueries[query] || (only.query !== undefined && only.query !== query)) continue;
    for (let key = 0; key < keys; key++) {
      if (hidden[key] || (only.key !== undefined && only.key !== key)) continue;
      const weight = map[query * keys + key];
      if (weight < faintest) continue;
      levels[Math.max(0, Math.round(Math.min(1, Math.sqrt(weight)) * LEVELS) - 1)].pairs.push([query, key]);
    }
  }
  return levels.filter(({ pairs }) => pairs.length > 0);
}

function side(map) {
  return Math.round(Math.sqrt(map.length));
}

/**
 * Path data of lines between two columns.
 * @param {number[][]} pairs  of [query, key]
 * @param {{left: number, right: number, row: number}} size  x of the columns, height of a row
 * @returns {string}
 */
export function path(pairs, { left, right, row }) {
  const y = (token) => Number(((token + 0.5) * row).toFixed(2));
  return pairs.map(([query, key]) => `M${left} ${y(query)}L${right} ${y(key)}`).join("");
}

/**
 * What a token attends to (`of` "query") or what attends to it ("key"), the strongest first.
 * @param {Float32Array} map  [query, key]
 * @param {number} token
 * @param {"query"|"key"} of
 * @param {number} count
 * @param {number} [keys]  how many there are, as many as queries unless stated
 * @returns {{token: number, weight: number}[]}
 */
export function strongest(map, token, of, count, keys = side(map)) {
  const at = (other) => (of === "query" ? token * keys + other : other * keys + token);
  return Array.from({ length: of === "query" ? keys : map.length / keys }, (_, other) => ({ token: other, weight: map[at(other)] }))
    .sort((a, b) => b.weight - a.weight || a.token - b.token)
    .slice(0, count);
}

/**
 * Runs of neighbouring cells of one colour in a row, without the cells of `background`.
 * @param {string[]} colours
 * @param {string} background
 * @returns {{start: number, length: number, colour: string}[]}
 */
export function runs(colours, background) {
  const found = [];
  colours.forEach((colour, index) => {
    const last = found.at(-1);
    if (last && last.colour === colour) last.length++;
    else found.push({ start: index, length: 1, colour });
  });
  return found.filter(({ colour }) => colour !== background);
}

/**
 * From a weight to its colour.
 * @param {string[]} ramp  "#rrggbb", as in ramps.js
 * @param {number[]} range  weights of the ramp's ends
 * @returns {function(number): number[]}  [red, green, blue], 0 to 255
 */
export function palette(ramp, [low, high]) {
  const steps = Array.from({ length: 256 }, (_, index) => channels(mix(ramp, index / 255)));
  return (weight) => steps[Math.max(0, Math.min(255, Math.round((255 * (weight - low)) / (high - low || 1))))];
}
