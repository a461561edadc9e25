/** All measures that both sides of a comparison have, and their differences. */

import { html } from "../vendor/standalone.module.js";
import { number, plural } from "../lib/format.js";
import { hatched, intervalText, valueText } from "../lib/measures.js";
import { apart, furthestFirst, inDeviations } from "../lib/pairs.js";

const CAUTION = "Whether two intervals overlap is not a test of the difference: both values may come from the same texts, and many rows are looked at.";

const ORDER = "Rows are in the order of |B − A| in standard deviations (SD) of the measure over the heads, the largest first, as units differ; rows without a difference come last.";

/** @param {{a: object, b: object, pairs: object[], alone: number}} props */
export function CompareTable({ a, b, pairs, alone }) {
  const rows = furthestFirst(pairs.map((pair) => {
    const both = apart(pair, a.index, b.index);
    return { ...pair, ...both, deviations: inDeviations(pair, both.difference) };
  }));
  const judged = rows.filter(({ overlap }) => overlap !== null).length;
  const state = a.model.name === b.model.name && a.state !== b.state;
  return html`<section class="profile" aria-labelledby="compare-table">
    <div class="section-head row"><h3 id="compare-table">Measures</h3></div>
    <p class="note">
      ${rows.length === 0 && (state ? "The study has measured nothing in both states, so that no row can be compared. " : "The two models share no measure. ")}
      ${judged > 0 && `Of ${plural(judged, "measure")} with intervals, ${rows.filter(({ overlap }) => overlap === false).length} have intervals that do not overlap. ${CAUTION}`}
      ${rows.length > 0 && ` ${ORDER}`}
      ${alone > 0 && ` ${plural(alone, "measure")} of one side only ${alone === 1 ? "is" : "are"} left out.`}
    </p>
    ${rows.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="Measures of both sides">
      <table>
        <thead><tr><th scope="col">Measure</th><th scope="col" class="number">A</th><th scope="col" class="optional">Interval</th>
          <th scope="col" class="number">B</th><th scope="col" class="optional">Interval</th><th scope="col" class="number">B − A</th><th scope="col" class="number optional">B − A in SD</th><th scope="col">Intervals</th></tr></thead>
        <tbody>${rows.map((row) => html`<${Row} key=${row.a.id} row=${row} i=${a.index} j=${b.index} />`)}</tbody>
      </table>
    </div>`}
  </section>`;
}

function Row({ row, i, j }) {
  const { a, b, difference, deviations, overlap } = row;
  const text = { true: "overlap", false: "apart" }[overlap] ?? "–";
  const cells = (measure, index) => html`<td class=${hatched(measure, index) ? "number hatched" : "number"}>${valueText(measure, index)}${measure.label?.[index] && html`<small class="label"><bdi>${measure.label[index]}</bdi></small>`}</td>
    <td class="interval optional">${intervalText(measure, index) ?? "–"}</td>`;
  return html`<tr title=${a.about}>
    <th scope="row"><bdi>${row.title}</bdi></th>
    ${cells(a, i)}${cells(b, j)}
    <td class="number">${difference === null ? "–" : `${number(difference, a.decimals)} ${a.unit === "%" ? "points" : a.unit}`}</td>
    <td class="number optional">${number(deviations, 1)}</td>
    <td class=${overlap === false ? "apart-yes" : "soft"}>${text}</td>
  </tr>`;
}
