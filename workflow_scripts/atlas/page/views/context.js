/** What is looked at: choosing the measure, and the line that states it. */

import { html } from "../vendor/standalone.module.js";
import { stateTitle } from "../lib/choice.js";
import { known, measuresOf } from "../lib/measures.js";
import { MeasurePicker } from "./picker.js";

/** The list of measures; which measure of which model, study and how many observations. */
export function Context({ atlas, model, measure, go }) {
  const measures = measuresOf(atlas, model);
  const paper = atlas.papers.find(({ name }) => name === measure.paper)?.title ?? measure.paper;
  return html`
    <div class="context">
      <${MeasurePicker} id="measure" label="Measure" ...${{ atlas, measures, value: measure.id }} choose=${(id, of) => go({ measure: id, ...(of !== measure.model && { model: of }) })} />
      <div>
        <h2>${measure.title}${measure.unit && html` <span class="unit">${measure.unit}</span>`}</h2>
        <p class="soft small">
          ${model.title}, ${stateTitle(model, measure.state)} · ${model.n_layers} × ${model.n_heads} heads · study ${atlas.study.name} · ${countsText(measure)} · ${paper}, ${measure.group}
        </p>
      </div>
    </div>
  `;
}

function countsText({ n, value, ...measure }) {
  if (n === null || n === undefined) return `${known({ ...measure, value })} of ${value.length} heads known`;
  const each = measure.n_of ? `${measure.n_of} per head` : "per head";
  if (!Array.isArray(n)) return `n = ${n} ${each}`;
  const numbers = n.filter((one) => one !== null);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return `n = ${low === high ? low : `${low} to ${high}`} ${each}`;
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
