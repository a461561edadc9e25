/**
 * What is looked at, as the part of the address after `#`: `#view=head&model=minilm&head=3-7`.
 *
 * A state is a plain object of strings under the names of KEYS. What equals its default is not
 * written, so the shortest address is the first view.
 */

const DEFAULTS = { map: "lines", below: "0.05" };
const KEYS = [
  "view", "model", "measure", "filter", "head",
  "segment", "figure", "state", "map", "first", "special", "dim", "below", "a", "b", "theme",
];

/**
 * @param {string} fragment  with or without `#`, percent-encoded or not
 * @returns {object}  the state; unknown keys are ignored
 */
export function parse(fragment) {
  const state = { ...DEFAULTS };
  for (const part of decoded(fragment.replace(/^#/, "")).split("&")) {
    const at = part.indexOf("=");
    const [key, value] = [part.slice(0, Math.max(0, at)), part.slice(at + 1)];
    if (KEYS.includes(key) && value !== "") state[key] = value;
  }
  return state;
}

/**
 * @param {object} state  values that are empty, null or undefined are left out
 * @returns {string}  the fragment with its `#`
 */
export function format(state) {
  const parts = KEYS.filter((key) => (state[key] ?? "") !== "" && state[key] !== DEFAULTS[key]);
  return `#${parts.map((key) => `${key}=${String(state[key]).replaceAll("%", "%25")}`).join("&")}`;
}

// Whole, since others encode a whole fragment, `=` and `&` too; a stray % is left as it is.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
