/** What the head does, in words and numbers: one sentence, and all others folded; then where it ranks. */

import { html } from "../vendor/standalone.module.js";
import { format } from "../lib/fragment.js";
import { bestAt } from "../lib/profile.js";
import { profile } from "../lib/summary.js";
import { TaskRow } from "./tasks.js";

/** @param {{model: object, measures: object[], index: number, state: object}} props */
export function Summary({ model, measures, index, state }) {
  const does = profile(model, measures, index);
  const best = bestAt(measures, index, does[0]?.measure);
  if (does.length === 0 && best.length === 0) return null;
  return html`<section class="summary" aria-label="What the head does">
    ${does.length > 0 && html`<ul class="does">${listed(does.slice(0, 1), state)}</ul>`}
    ${does.length > 1 && html`<details>
      <summary>What else is measured of it</summary>
      <ul class="does">${listed(does.slice(1), state)}</ul>
      <p class="soft small">In parentheses: 95% intervals, each for its number alone, so one may exclude 0 where p, which is corrected for the number of heads, is above 0.05. On texts they resample whole documents, whatever n counts.${does.some(({ measure }) => measure?.id.startsWith("syntax.")) && " The gain at the best of many relations is biased upwards by selection; what a relation beats is not corrected for the number of heads and relations."} Each line links to its measure.</p>
    </details>`}
    ${best.length > 0 && html`<details class="tasks">
      <summary>Where it ranks</summary>
      <p class="soft small">What its first line is read from, then the measures at which it is better than the baseline and in the first tenth of the heads. With ${measures.length} measures, some head comes first at each, by chance too.</p>
      <ul class="tasks-columns">${best.map((measure) => html`<${TaskRow} key=${measure.id} ...${{ measure, index, state }} />`)}</ul>
    </details>`}
  </section>`;
}

function listed(lines, state) {
  return lines.map((line) => html`<li key=${line.sentence}><bdi><${Line} ...${line} state=${state} /></bdi></li>`);
}

/** A sentence with what stands in brackets in the background, and the measure that it is read from. */
function Line({ sentence, measure, state }) {
  const parts = sentence.split(/(\([^()]*\))/).map((part) => (part.startsWith("(") ? html`<span class="soft small">${part}</span>` : part));
  if (measure === null) return parts;
  return html`<a href=${format({ ...state, view: "grid", measure: measure.id })} title=${measure.about}>${parts}</a>`;
}
