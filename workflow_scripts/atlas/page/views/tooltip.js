/** The numbers of the head that is pointed at, next to it. */

import { html } from "../vendor/standalone.module.js";
import { pValue } from "../lib/format.js";
import { corner } from "../lib/layout.js";
import { countText, denial, hatched, headName, intervalText, known, nullOf, ranks, valueText, withUnit } from "../lib/measures.js";
import { badgesAt } from "../lib/roles.js";
import { useHover } from "./hooks.js";

/**
 * @param {{model, measure, place, width}} props  place: of lib/layout.js; width: of the picture; a screen
 *   reader reads the head's own label instead
 */
export function Tooltip({ model, measure, place, width }) {
  const index = useHover();
  if (index < 0) return null;
  const [left, top] = corner(index, model, place);
  const x = left + place.cell[0] / 2;
  const side = x > width / 2 ? `right:${width - x + 14}px` : `left:${x + 14}px`;
  const style = `${side};top:${top + place.cell[1] / 2}px`;
  return html`
    <div class="tooltip" aria-hidden="true" style=${style}>
      <b>${headName(model, index)}</b>
      <${Numbers} ...${{ measure, index }} />
      ${badgesAt(model, index).map(({ id, title }) => html`<p key=${id}><bdi>${title}</bdi></p>`)}
    </div>
  `;
}

function Numbers({ measure, index }) {
  const interval = intervalText(measure, index);
  const [none, n, rank] = [nullOf(measure, index) ?? null, countText(measure, index), ranks(measure)[index]];
  const rows = [
    interval && ["interval", interval],
    none !== null && measure.scale !== "category" && [measure.null_title ?? "baseline", withUnit(measure, none)],
    rank !== null && ["rank", `${rank} of ${known(measure)}`],
    measure.p && ["p, corrected", pValue(measure.p[index])],
    n && ["n", String(n)],
  ].filter(Boolean);
  return html`
    <p class="value">${valueText(measure, index)}${measure.label?.[index] ? html` <span class="label">${measure.label[index]}</span>` : ""}</p>
    <dl>${rows.map(([key, value]) => html`<div><dt>${key}</dt><dd>${value}</dd></div>`)}</dl>
    ${hatched(measure, index) && html`<p class="small">hatched: ${denial(measure)}</p>`}
  `;
}
