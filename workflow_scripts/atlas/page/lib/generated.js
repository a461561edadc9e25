/** Texts of decoders: a prompt, then the tokens that the model generated. */

import { plural } from "./format.js";

/**
 * Which tokens of a text the model generated; the last ones.
 * @param {{tokens: string[], generated?: number}} segment
 * @returns {boolean[]}
 */
export function generatedIn({ tokens, generated = 0 }) {
  return tokens.map((_, index) => index >= tokens.length - generated);
}

/** What the marks of tokens mean; null of a text without generated tokens. */
export function generatedNote({ tokens, generated = 0 }) {
  if (!generated) return null;
  return `Underlined and in italics: the ${plural(generated, "token")} that the model generated greedily after the prompt's ${tokens.length - generated}.`;
}
