/**
 * Attention maps as the atlas stores them: one byte per weight, deflated, in base64.
 *
 * A byte b is the weight largest * (b / 255)^2, in the order [layer, head, query, key].
 */

/**
 * Bytes of a map from its base64 text.
 * @param {string} text
 * @returns {Promise<Uint8Array>}
 */
export async function inflate(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Readable maps from their bytes.
 * @param {Uint8Array} bytes
 * @param {{shape: number[], largest: number}} header  shape [layers, heads, queries, keys]
 * @returns {{shape: number[], head: function}}  head(layer, head): a Float32Array of queries * keys
 */
export function readable(bytes, { shape, largest }) {
  const length = shape.reduce((product, size) => product * size, 1);
  if (bytes.length !== length) {
    throw new Error(`These maps have ${bytes.length} bytes, but their shape ${shape} needs ${length}.`);
  }
  const weights = Float32Array.from({ length: 256 }, (_, byte) => largest * (byte / 255) ** 2);
  const size = shape.slice(2).reduce((product, part) => product * part, 1);
  const head = (layer, place) => {
    const from = (layer * shape[1] + place) * size;
    return Float32Array.from(bytes.subarray(from, from + size), (byte) => weights[byte]);
  };
  return { shape, head };
}

const KEPT = 8; // maps of BERT-base take 2.4 MB each
const loaded = new Map();

/**
 * The maps of an id, inflated once and kept while they are among the last few asked for.
 * @param {object} atlas
 * @param {string} id
 * @returns {Promise<object>}  as `readable` gives them
 */
export function loadMaps(atlas, id) {
  const kept = loaded.get(id) ?? read(atlas, id);
  loaded.delete(id);
  loaded.set(id, kept);
  if (loaded.size > KEPT) loaded.delete(loaded.keys().next().value);
  return kept;
}

// The page shows itself before its maps, which stand at its end, have been read.
function whole() {
  if (globalThis.document?.readyState !== "loading") return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
}

const pictures = new Map();

/** The address of a figure of the study, which stands in the page deflated, for as long as the page is open. */
export function pictureOf(id) {
  const read = async () => {
    await whole();
    const bytes = await inflate(document.getElementById(`figure:${id}`).textContent);
    return URL.createObjectURL(new Blob([bytes], { type: "image/svg+xml" }));
  };
  if (!pictures.has(id)) pictures.set(id, read());
  return pictures.get(id);
}

async function read(atlas, id) {
  const header = atlas.maps?.[id];
  const missing = () => new Error(`The maps ${id} are not in this file.`);
  if (!header) throw missing();
  await whole();
  const text = header.data ?? document.getElementById(`map:${id}`)?.textContent;
  if (!text) throw missing();
  return readable(await inflate(text), header);
}

/**
 * a - b, elementwise.
 * @param {Float32Array} a
 * @param {Float32Array} b
 * @returns {Float32Array}
 */
export function difference(a, b) {
  sameSize(a, b);
  return a.map((weight, index) => weight - b[index]);
}

/**
 * Jensen-Shannon divergence of two heads' attention, in nats (0 to log 2), the mean over queries.
 * There are as many keys as queries, unless `keys` states how many.
 *
 * Stored weights are rounded, so every row is first scaled to sum to 1. Not a number where a row
 * has no weight at all.
 * @param {Float32Array} a  queries * keys
 * @param {Float32Array} b  queries * keys
 * @param {number} [keys]
 * @returns {number}
 */
export function jensenShannon(a, b, keys = Math.round(Math.sqrt(a.length))) {
  sameSize(a, b);
  let total = 0;
  for (let start = 0; start < a.length; start += keys) {
    let sumA = 0;
    let sumB = 0;
    for (let index = start; index < start + keys; index++) {
      sumA += a[index];
      sumB += b[index];
    }
    for (let index = start; index < start + keys; index++) {
      const p = a[index] / sumA;
      const q = b[index] / sumB;
      total += (relative(p, q) + relative(q, p)) / 2;
    }
  }
  return Math.max(0, (total * keys) / a.length);
}

function relative(p, q) {
  return p === 0 ? 0 : p * Math.log((2 * p) / (p + q));
}

/**
 * Largest absolute value, 0 of nothing.
 * @param {...Float32Array} maps
 * @returns {number}
 */
export function largest(...maps) {
  let top = 0;
  for (const map of maps) {
    for (const value of map) if (Math.abs(value) > top) top = Math.abs(value);
  }
  return top;
}

function sameSize(a, b) {
  if (a.length !== b.length) throw new Error(`Maps of ${a.length} and ${b.length} weights differ in size.`);
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
