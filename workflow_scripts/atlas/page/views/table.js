/** All heads of a measure in a table that can be sorted. */

import { html } from "../vendor/standalone.module.js";
import { capital, number, plural, pValue } from "../lib/format.js";
import { claim, countOf, headName, holds, nullOf, ranks, valueText } from "../lib/measures.js";
import { badgesOf } from "../lib/roles.js";
import { fileName, measureRows } from "../lib/rows.js";
import { listed } from "../lib/statistics.js";
import { AboutMeasure, Chooser, Context } from "./context.js";
import { ClaimFilter, Filters } from "./filters.js";
import { pointing, useHeads } from "./hooks.js";
import { IntervalLine } from "./ranked.js";
import { Roles, RolesOf } from "./roles.js";
import { SaveCsv } from "./saves.js";

/** @param {{atlas, state, go}} props */
export function TableView({ atlas, state, go }) {
  const { model, measure, filters, passes, open } = useHeads(atlas, state, go);
  if (!measure) return html`<p>No measures of ${model.title} are in this study.</p>`;
  const columns = columnsOf(measure, model);
  const first = measure.scale === "category" || measure.better === "low" ? "value" : "-value";
  const asked = (state.sort ?? "").replace("-", "");
  const sort = columns.some(({ key, picture }) => key === asked && !picture) ? state.sort : first;
  const order = listed(measure, sort).filter((index) => passes[index]);
  const left = passes.length - order.length;
  const inForce = filters.some(({ id, op }) => id === measure.id && op === "!");
  const tools = [html`<${Chooser} ...${{ atlas, state, measure, go }} />`, !inForce && html`<${ClaimFilter} ...${{ measure, filters, go }} />`];
  return html`
    <${Context} ...${{ atlas, state, measure, tools }} />
    <${Filters} ...${{ atlas, model, filters, passes, go }} />
    <${Roles} ...${{ model, filters, go }} />
    ${left > 0 && html`<p class="small soft">${plural(left, "head")} that ${left === 1 ? "does" : "do"} not pass ${left === 1 ? "is" : "are"} not listed.</p>`}
    <div class="table-box" tabindex="0" role="region" aria-label="Heads" ...${pointing()}>
      <table class="heads-table">
        <thead>
          <tr>
            ${columns.map((column) => html`<${Heading} ...${{ column, sort, go }} />`)}
          </tr>
        </thead>
        <tbody>
          ${order.map(
            (index) => html`
              <tr key=${index} data-index=${index}>
                ${columns.map(({ key, left: atLeft, cell }) => html`<td key=${key} class=${atLeft ? "left" : ""}>${cell(model, index, open)}</td>`)}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
    <div class="row save">
      <${SaveCsv} rows=${() => measureRows(model, measure, order)} name=${fileName(atlas.study.name, model.name, measure.id)} stated />
    </div>
    <${AboutMeasure} measure=${measure} />
  `;
}

function Heading({ column: { key, title, left, picture }, sort, go }) {
  const there = sort.replace("-", "") === key;
  const down = sort.startsWith("-");
  const upFirst = ["head", "p", "label"].includes(key);
  const next = (there ? down : upFirst) ? key : `-${key}`;
  if (picture) return html`<th scope="col" class="left">${title}</th>`;
  return html`
    <th scope="col" class=${left ? "left" : ""} aria-sort=${there ? (down ? "descending" : "ascending") : "none"}>
      <button type="button" class="plain" onClick=${() => go({ sort: next })}>
        ${title}${there && html` <span aria-hidden="true">${down ? "↓" : "↑"}</span>`}
      </button>
    </th>
  `;
}

/** What a measure's labels are: the relation, the direction of a relation, or the share of maps of a class. */
function labelTitle({ id }) {
  if (id === "syntax.best") return "Relation";
  return id.startsWith("syntax.") ? "Direction" : "Share";
}

/** A direction in the width of a column. */
function short(label) {
  return label.replace("dependent to head", "dep → head").replace("head to dependent", "head → dep");
}

// What stands in each column; only those that the measure has.
function columnsOf(measure, model) {
  const numeric = measure.scale !== "category";
  const end = (which) => (_model, index) => number(measure[which][index], measure.decimals);
  return [
    {
      key: "head", title: "Head", left: true,
      cell: (model, index, open) => html`<button type="button" class="plain" onClick=${() => open(index)}>${headName(model, index)}</button>`,
    },
    badgesOf(model).length > 0 && { key: "roles", picture: true, title: "Roles", left: true, cell: (_model, index) => html`<${RolesOf} ...${{ model, index }} />` },
    { key: "value", title: measure.unit ? `Value, ${measure.unit}` : "Value", cell: (_model, index) => (numeric ? number(measure.value[index], measure.decimals) : valueText(measure, index)) },
    numeric && { key: "picture", picture: true, title: "", left: true, cell: (_model, index) => html`<${IntervalLine} measure=${measure} index=${index} width=${170} />` },
    measure.low && { key: "low", title: "Interval from", cell: end("low") },
    measure.high && { key: "high", title: "to", cell: end("high") },
    numeric && { key: "rank", title: "Rank", cell: (_model, index) => ranks(measure)[index] ?? "–" },
    measure.null !== null && numeric && { key: "null", title: measure.null_title ?? "baseline", cell: (_model, index) => number(nullOf(measure, index), measure.decimals) },
    measure.p && { key: "p", title: "p, corrected", cell: (_model, index) => pValue(measure.p[index]) },
    claim(measure) && { key: "holds", title: capital(claim(measure)), left: true, cell: (_model, index) => ({ true: "yes", false: "no" })[holds(measure, index)] ?? "–" },
    measure.n !== null && { key: "n", title: "n", cell: (_model, index) => countOf(measure, index) ?? "–" },
    measure.label && { key: "label", title: labelTitle(measure), left: true, cell: (_model, index) => short(measure.label[index] ?? "") },
  ].filter(Boolean);
}
