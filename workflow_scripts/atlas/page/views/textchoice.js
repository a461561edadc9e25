/** Choosing a text, by its first words, with its gold label and what a checkpoint predicts. */

import { html } from "../vendor/standalone.module.js";
import { number, plural } from "../lib/format.js";
import { textNames } from "../lib/texts.js";

function tokensOf({ tokens, target, generated }) {
  if (generated) return `${plural(tokens.length, "token")}, the last ${generated} of them generated`;
  return target ? `${tokens.length} source and ${plural(target.tokens.length, "target token")}` : plural(tokens.length, "token");
}

// "label: positive; predicted: negative (0.83)"; four decimals are stored, and two of 0.997 would claim certainty.
function outcomeText({ label, predictions }, named) {
  const written = (one) => (typeof one === "number" ? number(one, 2) : one);
  const { label: predicted, probability } = predictions?.[named] ?? {};
  const share = (probability ?? null) === null ? "" : ` (${probability >= 0.995 ? "> 0.99" : number(probability, 2)})`;
  return `${typeof label === "number" ? "score" : "label"}: ${written(label)}${predicted === undefined ? "" : `; predicted: ${written(predicted)}${share}`}`;
}

/**
 * A select of texts by corpus, where the chosen one is from, and of a task's example its label and its prediction.
 * @param {{segments: object[], segment: object, go: function, state: string|undefined, named: string}} props
 *   state: the checkpoint of the address, which is dropped where the text that is chosen lacks it; named: the
 *   checkpoint that predicts
 */
export function TextChoice({ segments, segment, go, state, named }) {
  const choose = (id) => {
    const { maps } = segments.find((one) => one.id === id);
    go({ segment: id, ...(state && !maps[state] && { state: "" }) });
  };
  const names = textNames(segments);
  const corpora = [...Map.groupBy(segments, ({ corpus }) => corpus)];
  return html`<label>Text
      <select id="segment" value=${segment.id} title=${segment.title} onChange=${(event) => choose(event.target.value)}>
        ${corpora.map(([corpus, texts]) => html`<optgroup label=${corpus}>
          ${texts.map(({ id, title }) => html`<option value=${id} title=${title}>${names.get(id)}</option>`)}
        </optgroup>`)}
      </select>
    </label>
    <small class="soft text-source"><bdi>${segment.title}</bdi>, ${tokensOf(segment)}</small>
    ${segment.label !== undefined && html`<span class="outcome" title="The gold label, and what the checkpoint predicts: the class with the largest softmax probability, or a score."><bdi>${outcomeText(segment, named)}</bdi></span>`}`;
}
