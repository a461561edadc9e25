/** What a text is called: its first words, as ids say nothing to people. */

import { plural } from "./format.js";
import { shown } from "./tokens.js";

const LETTERS = 44; // fit a select on a narrow screen

/**
 * The words of a text, its wordpieces joined and special tokens left out.
 * @param {{tokens: string[], word: number[]}} segment
 * @returns {string[]}
 */
export function wordsOf({ tokens, word }) {
  const words = [];
  tokens.forEach((token, index) => {
    if (word[index] < 0) return;
    const continues = index > 0 && word[index - 1] === word[index];
    if (continues) words[words.length - 1] += shown(token.replace(/^##(?=.)/u, ""));
    else words.push(shown(token));
  });
  return words;
}

/**
 * As many first words as fit, then an ellipsis: "... a mostly boring affair with a …"; a text without words has its id.
 * @param {object} segment
 * @param {number} [letters]
 * @returns {string}
 */
export function firstWords(segment, letters = LETTERS) {
  const words = wordsOf(segment);
  const whole = Array.from(words.join(" "));
  if (whole.length <= letters) return whole.join("") || segment.id;
  let name = "";
  for (const word of words) {
    const next = name ? `${name} ${word}` : word;
    if (name && Array.from(next).length > letters) break;
    name = next;
  }
  return `${Array.from(name).slice(0, letters).join("")} \u2026`;
}

/**
 * A name for each text, by its id: its first words, with the id where another text begins with the same.
 * @param {object[]} segments
 * @returns {Map<string, string>}
 */
export function textNames(segments) {
  const names = segments.map((segment) => firstWords(segment));
  const alone = (name) => names.indexOf(name) === names.lastIndexOf(name);
  return new Map(segments.map(({ id }, index) => [id, alone(names[index]) ? names[index] : `${names[index]} (${id})`]));
}

/**
 * Which tokens of a decoder's text the model generated after a prompt; the last ones.
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
