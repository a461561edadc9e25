/** Any measure against any other, linked to the grid by hovering, selecting and filtering. */

import { html, useMemo } from "../vendor/standalone.module.js";
import { axesOf, correlation, placeOf } from "../lib/cloud.js";
import { formatFilters, withFilter } from "../lib/filters.js";
import { layout } from "../lib/layout.js";
import { measuresOf } from "../lib/measures.js";
import { colours } from "../lib/scales.js";
import { ordered } from "../lib/statistics.js";
import { Cells, Hatches } from "./cells.js";
import { Filters } from "./filters.js";
import { pointing, useHeads, useWidth } from "./hooks.js";
import { Legend } from "./legend.js";
import { Axes } from "./margins.js";
import { MeasurePicker } from "./picker.js";
import { Cloud } from "./points.js";
import { Roles } from "./roles.js";

/** @param {{atlas, state, go, dark: boolean}} props */
export function ScatterView({ atlas, state, go, dark }) {
  const heads = useHeads(atlas, state, go);
  const { model, measure, filters, passes, selected } = heads;
  const measures = measuresOf(atlas, model);
  if (!measure) return html`<p>No measures of ${model.title} are in this study.</p>`;
  const { y, x, colour } = axesOf(atlas, state);
  const own = colour ? filters.filter(({ id }) => id === colour.id) : [];
  const choose = (value) =>
    go({ filter: formatFilters(withFilter(filters, { id: colour.id, op: colour.scale === "category" ? ":" : ">", value })) });
  return html`
    <div class="context">
      <div class="row">
        <${MeasurePicker} id="y" label="y-axis" ...${{ atlas, measures, value: y.id }} choose=${(id) => go({ y: id })} />
        <${MeasurePicker} id="x" label="x-axis" ...${{ atlas, measures, value: x.id }} choose=${(id) => go({ x: id })} />
        <button type="button" onClick=${() => go({ x: y.id, y: x.id })}>Swap</button>
      </div>
      <div>
        <h2>${y.title} against ${x.title}</h2>
        <p class="soft">${model.title} · ${model.n_layers} × ${model.n_heads} heads · study ${atlas.study.name} · each point is a head</p>
      </div>
    </div>
    <${Filters} ...${{ atlas, model, filters, passes, selected, go }} hint="Drag over points or cells to select heads; filters are set in the grid, or here by the colours of a measure." />
    <div class="side-by-side">
      <div class="main-picture">
        <${Cloud} ...${{ heads, x, y, colour, dark, study: atlas.study.name }} words=${correlation(x, y, heads)} />
      </div>
      <aside aria-label="Colours and heads">
        <${MeasurePicker} id="colour" label="Colours" none=${placeOf(model).title} ...${{ atlas, measures, value: colour?.id ?? "" }} choose=${(id) => go({ colour: id })} />
        ${colour
          ? html`<${Legend} ...${{ measure: colour, dark, filters: own, choose }} />`
          : html`<${Legend} measure=${placeOf(model)} dark=${dark} filters=${[]} />`}
        <${Roles} ...${{ model, filters, go }} />
        <${SmallGrid} ...${{ heads, measure: colour ?? placeOf(model), dark }} />
      </aside>
    </div>
  `;
}

function SmallGrid({ heads, measure, dark }) {
  const { model, passes, selected, open, select } = heads;
  const [box, width] = useWidth(300);
  const place = useMemo(() => layout(width, model, false, false), [width, model]);
  const order = useMemo(() => ordered(measure, model, false), [measure, model]);
  const colour = useMemo(() => colours(measure, dark), [measure, dark]);
  return html`
    <div ref=${box} ...${pointing()}>
      <svg class="picture" width=${place.width} height=${place.height} viewBox=${`0 0 ${place.width} ${place.height}`}>
        <${Hatches} />
        <${Axes} ...${{ model, place, byValue: false }} />
        <${Cells} key=${model.name} ...${{ model, measure, place, order, colour, light: colour, passes, selected, open, select }} />
      </svg>
    </div>
  `;
}
