/** What is looked at: choosing the measure, and the line that states it. */

import { html } from "../vendor/standalone.module.js";
import { known, measuresOf, modelOf } from "../lib/measures.js";
import { MeasurePicker } from "./picker.js";

/** The list of measures, and the one before and after. */
export function Chooser({ atlas, state, measure, go }) {
  const measures = measuresOf(atlas, modelOf(atlas, state));
  const at = measures.indexOf(measure);
  const step = (by) => go({ measure: measures[(at + by + measures.length) % measures.length].id });
  return html`
    <div class="row chooser">
      <${MeasurePicker} id="measure" label="Measure" ...${{ atlas, measures, value: measure.id }} choose=${(id, model) => go({ measure: id, ...(model !== measure.model && { model }) })} others />
      <button type="button" aria-label="The measure before" title="The measure before" onClick=${() => step(-1)}>‹</button>
      <button type="button" aria-label="The next measure" title="The next measure" onClick=${() => step(1)}>›</button>
    </div>
  `;
}

/** Which measure of which model, study and how many observations, in two lines. */
export function Context({ atlas, state, measure, tools }) {
  const model = modelOf(atlas, state);
  const paper = atlas.papers.find(({ name }) => name === measure.paper)?.title ?? measure.paper;
  return html`
    <div class="context">
      <div class="row">${tools}</div>
      <div>
        <h2>${measure.title}${measure.unit && html` <span class="unit">${measure.unit}</span>`}</h2>
        <p class="soft">
          ${model.title}, ${stateTitle(model, measure.state)} · ${model.n_layers} × ${model.n_heads} heads · study ${atlas.study.name} · ${countText(measure)} · ${paper}, ${measure.group}
        </p>
      </div>
    </div>
  `;
}

function stateTitle(model, name) {
  return model.states.find((state) => state.name === name)?.title ?? name;
}

function countText({ n, value, ...measure }) {
  if (n === null || n === undefined) return `${known({ ...measure, value })} of ${value.length} heads known`;
  if (!Array.isArray(n)) return `n = ${n} per head`;
  const numbers = n.filter((one) => one !== null);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return low === high ? `n = ${low} per head` : `n = ${low} to ${high} per head`;
}

/** What the measure is, and the table it is from. */
export function AboutMeasure({ measure }) {
  const { table, column, where = {}, factor = 1, pick, derived } = measure.source;
  const rows = Object.entries(where).map(([key, value]) => `${key} = ${value}`);
  return html`
    <p class="about">${measure.about}</p>
    <p class="small soft source">
      From <code>${table}</code>, column <code>${column}</code>${rows.length > 0 && `, ${rows.join(", ")}`}${pick === "largest" && ", the largest row of each head"}${factor !== 1 && `, times ${factor}`}${derived && `: ${derived}`}.
    </p>
  `;
}
