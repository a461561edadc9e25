/** Filters: the form for one more, those in force, how many heads pass, and the selection. */

import { html, useState } from "../vendor/standalone.module.js";
import { filterWords, formatFilters, formatHeads, withFilter } from "../lib/filters.js";
import { plural } from "../lib/format.js";
import { claim, oneSided } from "../lib/measures.js";
import { domain } from "../lib/scales.js";

/** A form that keeps the heads above or below a number of the measure, or those that pass its test. */
export function FilterForm({ measure, filters, go }) {
  const [op, setOp] = useState(measure.better === "low" ? "<" : ">");
  const range = domain(measure);
  if (measure.scale === "category" || !range) return null;
  const add = (filter) => go({ filter: formatFilters(withFilter(filters, filter)) });
  const submit = (event) => {
    event.preventDefault();
    const value = event.currentTarget.elements.limit.valueAsNumber;
    if (Number.isFinite(value)) add({ id: measure.id, op, value });
  };
  return html`
    <form class="filter-form row" onSubmit=${submit}>
      <label for="op">Heads</label>
      <select id="op" value=${op} onChange=${(event) => setOp(event.target.value)}>
        <option value=">">above</option>
        <option value="<">below</option>
      </select>
      <input name="limit" type="number" step="any" required aria-label=${`Limit${measure.unit && `, ${measure.unit}`}`}
        placeholder=${String(Number(((range[0] + range[1]) / 2).toPrecision(2)))} />
      ${measure.unit && html`<span class="soft">${measure.unit}</span>`}
      <button type="submit">Filter</button>
      <${ClaimFilter} ...${{ measure, filters, go }} />
    </form>
  `;
}

/** A button that keeps the heads that pass the measure's test; nothing where nothing is tested. */
export function ClaimFilter({ measure, filters, go }) {
  if (!claim(measure)) return null;
  const add = () => go({ filter: formatFilters(withFilter(filters, { id: measure.id, op: "!", value: null })) });
  return html`<button type="button" class="plain" onClick=${add}>Only heads ${oneSided(measure) ? "better than" : "different from"} the baseline</button>`;
}

/**
 * The filters in force and the selected heads, each with a button that takes it away.
 * @param {{atlas, model, filters, passes, selected, go, hint}} props  hint: shown where nothing is filtered
 */
export function Filters({ atlas, model, filters, passes, selected, go, hint }) {
  const passed = passes.filter(Boolean).length;
  const without = (filter) => go({ filter: formatFilters(filters.filter((one) => one !== filter)) });
  const chosen = [...selected];
  return html`
    <div class="filters row" id="filters">
      <p role="status">
        ${filters.length > 0
          ? html`<b>${passed} of ${plural(passes.length, "head")} ${passed === 1 ? "passes" : "pass"}</b>`
          : html`<span class="soft">${hint}</span>`}
      </p>
      ${filters.map((filter) => {
        const words = filterWords(atlas, model, filter);
        return html`<button type="button" class="chip" onClick=${() => without(filter)} aria-label=${`Remove the filter ${words}`}>${words} <span aria-hidden="true">×</span></button>`;
      })}
      ${filters.length > 1 && html`<button type="button" class="plain" onClick=${() => go({ filter: "" })}>Remove all</button>`}
      ${chosen.length > 0 && html`
        <button type="button" class="chip selection" onClick=${() => go({ brush: "" })} aria-label=${`Drop the selection of ${plural(chosen.length, "head")}`}>
          ${plural(chosen.length, "head")} selected${chosen.length < 7 ? `: ${formatHeads(model, chosen).replaceAll(",", ", ")}` : ""} <span aria-hidden="true">×</span>
        </button>
      `}
    </div>
  `;
}
