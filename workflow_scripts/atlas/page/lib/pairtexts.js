/** Sentence pairs of translators: which tokens attend to which, by type of attention. */

import { once } from "./once.js";

const byType = once(() => new Map());

/**
 * A text as heads of one type of attention read it: `tokens` and `word` are the keys', `queries` those that
 * attend to them, and `maps` the maps of that type by state. Another model's text is as it is.
 * @param {object} segment
 * @param {string} [type]  encoder, encoder-decoder or decoder
 */
export function ofType(segment, type) {
  if (!segment?.target) return segment;
  const found = byType(segment);
  if (!found.has(type)) found.set(type, projected(segment, type));
  return found.get(type);
}

function projected(segment, type) {
  const queries = type === "encoder" ? segment : segment.target;
  const { tokens, word } = type === "decoder" ? segment.target : segment;
  const maps = Object.fromEntries(Object.entries(segment.maps).map(([state, ids]) => [state, ids[type]]));
  return { ...segment, tokens, word, queries: { tokens: queries.tokens, word: queries.word }, maps };
}

/** The tokens that attend, and the word of each; those of an encoder's text are its keys too. */
export function queriesOf(segment) {
  return segment.queries ?? segment;
}

const FORCED = "The decoder reads the reference (teacher forcing), shifted by a start token: at each token it predicts the next.";
const ABOUT = {
  encoder: "Source tokens attend to source tokens.",
  "encoder-decoder": `Cross-attention: target tokens attend to source tokens. ${FORCED}`,
  decoder: `Target tokens attend to themselves and to target tokens before them. ${FORCED}`,
};

/** What attends to what, in a sentence or two; null where there is one type of attention. */
export function aboutType(type) {
  return ABOUT[type] ?? null;
}
