/** Choosing the direction between the two sentences of a pair. */

import { html } from "../vendor/standalone.module.js";
import { number } from "../lib/format.js";
import { DIRECTIONS, shareOf } from "../lib/sentences.js";

/** A select of directions; nothing where the text is not a pair. */
export function DirectionChoice({ sentences, direction, go }) {
  if (!sentences) return null;
  return html`<label title="A: up to the separator in the middle; B: after it">Sentences
    <select id="sentences" value=${direction} onChange=${(event) => go({ sentences: event.target.value })}>
      ${DIRECTIONS.map(([name, title]) => html`<option value=${name}>${title}</option>`)}
    </select>
  </label>`;
}

/** What is drawn of a direction, and each head's share of it; norms have no share. */
export function directionNote({ heads, sentences, direction, norms }) {
  const [from, to] = direction.toUpperCase();
  const drawn = `Shown: links from the tokens of sentence ${from} to those of ${from === to ? "the same sentence" : to}, without special tokens.`;
  if (norms) return drawn;
  const shares = heads.map(({ label, map }) => `${number(100 * shareOf(map, sentences, direction), 1)}% (${label})`);
  return `${drawn} They hold ${shares.join(", ")} of the attention of the tokens of ${from}, on this one text.`;
}
