/** Filters: a button for one more, those in force, and how many heads pass. */

import { html } from "../vendor/standalone.module.js";
import { filterWords, formatFilters, withFilter } from "../lib/filters.js";
import { plural } from "../lib/format.js";
import { claim, oneSided } from "../lib/measures.js";

/** A button that keeps the heads that pass the measure's test; nothing where nothing is tested. */
export function ClaimFilter({ measure, filters, go }) {
  if (!claim(measure)) return null;
  const add = () => go({ filter: formatFilters(withFilter(filters, { id: measure.id, op: "!", value: null })) });
  return html`<button type="button" class="plain" onClick=${add}>Only heads ${oneSided(measure) ? "better than" : "different from"} the baseline</button>`;
}

/**
 * The filters in force, each with a button that takes it away.
 * @param {{atlas, model, filters, passes, go}} props
 */
export function Filters({ atlas, model, filters, passes, go }) {
  const passed = passes.filter(Boolean).length;
  const without = (filter) => go({ filter: formatFilters(filters.filter((one) => one !== filter)) });
  return html`
    <div class="filters row" id="filters">
      <p role="status">
        ${filters.length > 0
          ? html`<b>${passed} of ${plural(passes.length, "head")} ${passed === 1 ? "passes" : "pass"}</b>`
          : html`<span class="soft">Click on a head to open its card.</span>`}
      </p>
      ${filters.map((filter) => {
        const words = filterWords(atlas, model, filter);
        return html`<button type="button" class="chip" onClick=${() => without(filter)} aria-label=${`Remove the filter ${words}`}>${words} <span aria-hidden="true">×</span></button>`;
      })}
      ${filters.length > 1 && html`<button type="button" class="plain" onClick=${() => go({ filter: "" })}>Remove all</button>`}
    </div>
  `;
}
