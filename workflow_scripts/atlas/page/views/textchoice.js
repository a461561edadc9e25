/** Choosing a text, by its first words. */

import { html } from "../vendor/standalone.module.js";
import { plural } from "../lib/format.js";
import { textNames } from "../lib/texts.js";

function tokensOf({ tokens, target, generated }) {
  if (generated) return `${plural(tokens.length, "token")}, the last ${generated} of them generated`;
  return target ? `${tokens.length} source and ${plural(target.tokens.length, "target token")}` : plural(tokens.length, "token");
}

/**
 * A select of texts by corpus, and where the chosen one is from.
 * @param {{segments: object[], segment: object, go: function, state: string|undefined}} props  state: the
 *   checkpoint of the address, which is dropped where the text that is chosen lacks it
 */
export function TextChoice({ segments, segment, go, state }) {
  const choose = (id) => {
    const { maps } = segments.find((one) => one.id === id);
    go({ segment: id, ...(state && !maps[state] && { state: "" }) });
  };
  const names = textNames(segments);
  const corpora = [...new Set(segments.map(({ corpus }) => corpus))];
  return html`<label>Text
      <select id="segment" value=${segment.id} title=${segment.title} onChange=${(event) => choose(event.target.value)}>
        ${corpora.map((corpus) => html`<optgroup label=${corpus}>
          ${segments.filter((one) => one.corpus === corpus).map(({ id, title }) => html`<option value=${id} title=${title}>${names.get(id)}</option>`)}
        </optgroup>`)}
      </select>
    </label>
    <small class="soft text-source"><bdi>${segment.title}</bdi>, ${tokensOf(segment)}</small>`;
}
