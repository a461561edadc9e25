/** The first heads of a measure, or all, with their intervals on one scale. */

import { html, useState } from "../vendor/standalone.module.js";
import { headName, known, listed, valueText } from "../lib/measures.js";
import { pointing } from "./hooks.js";
import { Strip } from "./profile.js";

const SHOWN = 8;

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
      <ol class="small">
        ${order.slice(0, all ? order.length : SHOWN).map(
          (index) => html`
            <li data-index=${index}>
              <button type="button" class="plain" onClick=${() => open(index)}>${headName(model, index)}</button>
              <${Strip} ...${{ measure, i: index, width: measure.label ? 84 : 130, rug: false }} />
              <span class="number">${valueText(measure, index)}</span>
              ${measure.label && html`<span class="label">${measure.label[index]}</span>`}
            </li>
          `,
        )}
      </ol>
    </section>
  `;
}
