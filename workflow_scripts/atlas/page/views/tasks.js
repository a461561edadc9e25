/** Effects of a head on each task: of disabling it, its importance, its change by fine-tuning. */

import { html } from "../vendor/standalone.module.js";
import { format } from "../lib/fragment.js";
import { capital, plural, pText } from "../lib/format.js";
import { among, hatched, intervalText, valueText } from "../lib/measures.js";
import { standing } from "../lib/profile.js";
import { Strip } from "./profile.js";

/** Whether a measure of a task states what is better, or what kind of head it is, and this head is not one of most heads with the same number. */
function isInformative(measure, index) {
  const { tied, of } = standing(measure, index) ?? { tied: 0, of: 1 };
  return (measure.better !== null || measure.scale === "category") && tied < of / 2;
}

function ofTask(measures, task, index) {
  return measures.filter((measure) => measure.task === task && isInformative(measure, index));
}

/** @param {{model: object, measures: object[], index: number, state: object}} props */
export function Tasks({ model, measures, index, state }) {
  const tasks = [...new Set(measures.map(({ task }) => task))].filter((task) => task !== null && ofTask(measures, task, index).length > 0);
  if (tasks.length === 0) return null;
  const others = measures.filter((measure) => measure.task !== null && !isInformative(measure, index)).length;
  return html`<section class="tasks" aria-labelledby="tasks-title">
    <div class="section-head row"><h3 id="tasks-title">Effects on each task</h3></div>
    <div class="tasks-columns">
      ${tasks.map((task) => html`<div key=${task}>
        <h4>${titleOf(model, task)}</h4>
        <ul>${ofTask(measures, task, index).map((measure) => html`<${TaskRow} key=${measure.id} ...${{ measure, index, state }} />`)}</ul>
      </div>`)}
    </div>
    <p class="soft small">An open dot does not detectably differ from the baseline. ${others > 0 && `${plural(others, "measure")} of what it attends to on a task, or at which half of the heads have the same number, ${others === 1 ? "stands" : "stand"} in the table below.`}</p>
  </section>`;
}

function titleOf(model, task) {
  const title = model.states.find((state) => state.task === task)?.title ?? task;
  return capital(title);
}

/** A measure of a task: its strip and its value. */
export function TaskRow({ measure, index, state }) {
  const place = standing(measure, index);
  const p = measure.p?.[index] ?? null;
  const interval = intervalText(measure, index);
  return html`<li class=${hatched(measure, index) ? "hatched" : null} title=${measure.about}>
    <a href=${format({ ...state, view: "grid", measure: measure.id })}><bdi>${measure.title}</bdi></a>
    <span class="task-value"><${Strip} measure=${measure} i=${index} /><b>${valueText(measure, index)}</b></span>
    <span class="soft small">${[
      interval && `interval ${interval}`,
      p !== null && pText(p),
      place && `rank ${place.rank} ${among(measure)}${place.tied > 0 ? `, shared by ${place.tied + 1}` : ""}`,
    ]
      .filter(Boolean)
      .join(", ")}</span>
  </li>`;
}
