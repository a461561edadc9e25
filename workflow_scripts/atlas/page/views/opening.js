/** Next to the maps of all heads: what the study found, and what the colours of their frames mean. */

import { html } from "../vendor/standalone.module.js";
import { format } from "../lib/fragment.js";
import { plural, withMinus } from "../lib/format.js";
import { findingsOf } from "../lib/opening.js";

/** What to know before any number, such as how few documents there are. */
export function Cautions({ atlas }) {
  return atlas.study.cautions?.map((sentence) => html`<p key=${sentence} class="small"><bdi>${sentence}</bdi></p>`);
}

/** The findings about a model, each a link to the view that shows it. */
export function Findings({ atlas, model, state }) {
  const found = findingsOf(atlas, model);
  if (found.length === 0) return null;
  return html`<section class="findings" aria-labelledby="findings-title">
    <h3 id="findings-title">Findings</h3>
    <${Cautions} atlas=${atlas} />
    <ul>
      ${found.map(({ sentence, numbers, verdict, address }) => html`<li key=${sentence}>
        <a href=${address + (state.theme ? `&theme=${state.theme}` : "")}><bdi>${sentence}</bdi></a>
        <span class="soft small"><bdi> ${withMinus(numbers)}${verdict && `. Claim: ${verdict}`}</bdi></span>
      </li>`)}
    </ul>
  </section>`;
}

/** The kinds of heads in the colours of their frames, each a link to the grid with its heads. */
export function Kinds({ kinds, state }) {
  if (kinds.length === 0) return null;
  return html`<section class="kinds small" aria-label="Kinds of heads">
    <ul class="row">
      <li>Borders:</li>
      ${kinds.map(({ title, note, colour, heads, address }) => html`<li key=${title}>
        <i style=${{ borderColor: colour }}></i>
        <a href=${format({ ...state, view: "grid", ...address })}><bdi>${title}</bdi></a> <span class="soft">${plural(heads.length, "head")}${note && `; ${note}`}</span>
      </li>`)}
    </ul>
  </section>`;
}
