/** The first heads of a measure, or all, with their intervals on one scale. */

import { html, useState } from "../vendor/standalone.module.js";
import { hatched, headName, intervalOf, known, nullOf, valueText } from "../lib/measures.js";
import { reach } from "../lib/scales.js";
import { listed } from "../lib/statistics.js";
import { pointing } from "./hooks.js";

const SHOWN = 8;
const WIDTH = 130;

/** A value as a point, its interval as a line, its baseline as a tick, over the measure's range. */
function IntervalLine({ measure, index, width }) {
  const range = reach(measure);
  const value = measure.value[index];
  const x = (one) => 4 + (Math.min(1, Math.max(0, (one - range[0]) / (range[1] - range[0]))) * (width - 8));
  const interval = intervalOf(measure, index);
  const none = nullOf(measure, index) ?? null;
  return html`
    <svg class=${hatched(measure, index) ? "interval open" : "interval"} width=${width} height="14" aria-hidden="true">
      <path class="ground" d=${`M4 7.5H${width - 4}`} />
      ${none !== null && html`<path class="null" d=${`M${x(none)} 2v11`} />`}
      ${interval && html`<path class="line" d=${`M${x(interval[0])} 7.5H${x(interval[1])}`} />`}
      <circle cx=${x(value)} cy="7.5" r="3.2" />
    </svg>
  `;
}

/** @param {{model, measure, passes, open}} props */
export function Ranked({ model, measure, passes, open }) {
  const [all, setAll] = useState(false);
  if (measure.scale === "category" || known(measure) === 0) return null;
  const low = measure.better === "low";
  const order = listed(measure).filter((index) => passes[index] && measure.value[index] !== null);
  if (order.length === 0) return null;
  return html`
    <section class="ranked" aria-labelledby="ranked-title" ...${pointing()}>
      <div class="row"><h3 id="ranked-title">${low ? "Lowest" : "Highest"} heads${passes.every(Boolean) ? "" : " that pass"}</h3>
        ${order.length > SHOWN && html`<button type="button" class="plain" aria-pressed=${all ? "true" : "false"} onClick=${() => setAll(!all)}>All ${order.length}</button>`}</div>
      <ol>
        ${order.slice(0, all ? order.length : SHOWN).map(
          (index) => html`
            <li data-index=${index}>
              <button type="button" class="plain" onClick=${() => open(index)}>${headName(model, index)}</button>
              <${IntervalLine} ...${{ measure, index, width: measure.label ? 84 : WIDTH }} />
              <span class="number">${valueText(measure, index)}</span>
              ${measure.label && html`<span class="label">${measure.label[index]}</span>`}
            </li>
          `,
        )}
      </ol>
    </section>
  `;
}
