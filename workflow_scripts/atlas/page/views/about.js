/** What the study is, what was left out, and how to read the pictures. */

import { html } from "../vendor/standalone.module.js";
import { plural } from "../lib/format.js";

/** @param {{atlas}} props */
export function About({ atlas }) {
  return html`
    <div class="reading">
      <h2>About this atlas</h2>
      <section>
        <h3>The study</h3>
        <p>Study ${atlas.study.name}, seed ${atlas.study.seed}.</p>
        ${atlas.study.about.map((sentence) => html`<p>${sentence}</p>`)}
        <ul>
          ${atlas.models.map(
            ({ title, architecture, n_layers: layers, n_heads: heads, types, source, states }) => html`
              <li>
                <b>${title}</b>: ${architecture}, ${plural(layers, "layer")}${types && ` (${types.map((type) => `${type.n_layers} ${type.title}`).join(", ")})`} of ${plural(heads, "head")}, from ${source};
                states: ${states.map((one) => one.title).join(", ")}.
              </li>
            `,
          )}
        </ul>
      </section>
      ${atlas.left_out.length > 0 &&
      html`
        <section>
          <h3>What was left out</h3>
          <ul>${atlas.left_out.map((sentence) => html`<li>${sentence}</li>`)}</ul>
        </section>
      `}
      <section>
        <h3>How to read it</h3>
        <p>A head is named by its layer and its number, both from 1: 3-7 is the seventh head of the third layer. TransformerLens counts from 0 and calls it L2H6. Layer 1 is at the bottom.${atlas.models.some(({ types }) => types) && " A translator has layers of three types: of the encoder's attention (Enc-Enc), of the decoder's to the encoder (Enc-Dec, cross-attention) and to itself (Dec-Dec)."}</p>
        <p>
          A hatched head is not significantly better than the measure's baseline, such as the best fixed offset of a relation. For effects of disabling heads, and for measures
          without a better side, it does not differ significantly from the baseline. Significant means a corrected p-value below 0.05; for measures without a p-value,
          that the head's own 95% interval excludes the baseline. Such intervals are not corrected for the number of heads, so a few heads are unhatched by chance.
        </p>
        <p>A rank of 1 is the highest value, or the lowest where lower is better; of disabling a head it is the most harmful. Equal values share a rank. Heads of the same model are not independent, so no interval is given for a mean of a layer.</p>
        <p>On a light page darker colours mean more, on a dark page brighter ones; of a similarity the lower values are the darker ones, since they are the larger change. In effects of disabling heads red is harm: the score falls or the loss rises. Grey or hatched means that the data cannot tell. Kinds of heads, maps and tokens have the colours of the figures. Saved pictures have the colours of the light page.</p>
        <p>Saved tables count layers and heads from 1, as the names do.</p>
        <p>Keys: arrows, Home and End move over the heads of a grid, over tokens and over the cells of a matrix; Enter opens a head's card, ← and → lead to the card before and after, Esc leaves it.</p>
      </section>
      <section>
        <h3>The numbers</h3>
        <p>All numbers of this page are in the file atlas.json next to it, which other programs can read; it counts layers and heads from 0. The page makes no network requests.</p>
      </section>
    </div>
  `;
}
