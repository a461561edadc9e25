/** The grid of heads, coloured by a measure, with its legend, filters and means. */

import { html, useMemo } from "../vendor/standalone.module.js";
import { formatFilters, withFilter } from "../lib/filters.js";
import { layout, spots } from "../lib/layout.js";
import { hatched, hatchRule } from "../lib/measures.js";
import { badgesOf } from "../lib/roles.js";
import { fileName, measureRows } from "../lib/rows.js";
import { saveImage } from "../lib/save.js";
import { colours } from "../lib/scales.js";
import { ordered } from "../lib/statistics.js";
import { Cells, Hatches } from "./cells.js";
import { AboutMeasure, Chooser, Context } from "./context.js";
import { FilterForm, Filters } from "./filters.js";
import { pointing, useHeads, useWidth } from "./hooks.js";
import { Legend } from "./legend.js";
import { Axes, HeadMeans, LayerMeans } from "./margins.js";
import { Ranked } from "./ranked.js";
import { Roles } from "./roles.js";
import { SaveCsv, SavePicture } from "./saves.js";
import { Tooltip } from "./tooltip.js";

/** @param {{atlas, state, go, dark}} props */
export function GridView({ atlas, state, go, dark }) {
  const heads = useHeads(atlas, state, go);
  const { model, measure, filters, passes, selected } = heads;
  if (!measure) return html`<p>No measures of ${model.title} are in this study.</p>`;
  const own = filters.filter(({ id }) => id === measure.id);
  const byValue = state.sort === "within";
  const meansOfHeads = !byValue && measure.scale !== "category";
  const choose = (value) => {
    const op = measure.scale === "category" ? ":" : measure.better === "low" ? "<" : ">";
    const filter = { id: measure.id, op, value };
    const there = own.find((one) => one.op === op && one.value === value);
    go({ filter: formatFilters(there ? filters.filter((one) => one !== there) : withFilter(filters, filter)) });
  };
  const options = html`
    <div class="row options">
      <button type="button" aria-pressed=${byValue ? "true" : "false"} onClick=${() => go({ sort: byValue ? "" : "within" })}>Sort within layers</button>
      ${meansOfHeads && html`<button type="button" aria-pressed=${state.margins ? "true" : "false"} onClick=${() => go({ margins: state.margins ? "" : "heads" })}>Means of heads</button>`}
    </div>
  `;
  return html`
    <${Context} ...${{ atlas, state, measure }} tools=${[html`<${Chooser} ...${{ atlas, state, measure, go }} />`, options]} />
    <${Filters} ...${{ atlas, model, filters, passes, selected, go }}
      hint=${`Click on ${measure.scale === "category" ? "a kind in the legend" : "the legend's colours"} to filter heads; drag over heads to select them.`} />
    <div class="side-by-side">
      <div class="main-picture">
        <${HeadsPicture} ...${{ heads, dark, byValue, tops: state.margins === "heads" && meansOfHeads }}
          study=${atlas.study.name} />
      </div>
      <aside aria-label="Legend and filters">
        <${Legend} ...${{ measure, dark, filters: own, choose }} />
        <${Roles} ...${{ model, filters, go }} />
        <${FilterForm} key=${measure.id} ...${{ measure, filters, go }} />
        <${Ranked} ...${{ model, measure, passes, open: heads.open, go }} />
      </aside>
      <div class="beneath"><${AboutMeasure} measure=${measure} /></div>
    </div>
  `;
}

/** The picture with its buttons; `study` is named in what is saved. */
function HeadsPicture({ heads, dark, byValue, tops, study }) {
  const { model, measure, passes, selected, open, select } = heads;
  const [box, width] = useWidth(720);
  const place = useMemo(() => layout(width, model, tops), [width, model, tops]);
  const order = useMemo(() => ordered(measure, model, byValue), [measure, model, byValue]);
  const colour = useMemo(() => colours(measure, dark), [measure, dark]);
  const light = useMemo(() => colours(measure, false), [measure]);
  const name = fileName(study, model.name, measure.id);
  const svg = () => box.current.querySelector("svg.heads");
  const save = (type) =>
    saveImage(svg(), name, {
      title: `${measure.title}, ${model.title}${measure.state === "pretrained" ? "" : `, ${measure.state}`}`,
      notes: captions(model, measure, study, passes),
      below: [document.querySelector("#legend svg.picture")],
    }, type);
  return html`
    <figure class="heads-figure" ref=${box} ...${pointing()}>
      <svg class="picture heads" width=${place.width} height=${place.height} viewBox=${`0 0 ${place.width} ${place.height}`}>
        <${Hatches} />
        <${Axes} ...${{ model, place, byValue }} />
        ${tops && html`<${HeadMeans} ...${{ measure, model, place }} />`}
        <${LayerMeans} ...${{ measure, model, place, dark }} />
        <${Cells} key=${model.name} ...${{ model, measure, place, order, colour, light, passes, selected, numbers: byValue, open, select }} />
      </svg>
      <${Tooltip} ...${{ model, measures: [measure], place: spots(order, place, width) }} />
      <div class="row save">
        <${SavePicture} save=${save} />
        <${SaveCsv} rows=${() => measureRows(model, measure)} name=${name} stated />
      </div>
    </figure>
  `;
}

function captions(model, measure, study, passes) {
  const count = measure.value.filter((_, index) => hatched(measure, index)).length;
  const rule = hatchRule(measure);
  const dimmed = passes.filter((one) => !one).length;
  const roles = badgesOf(model).map(({ mark, title }) => `${mark}: ${title}`).join("; ");
  return [
    rule && `Hatched, ${count} of ${measure.value.length} heads: ${rule}.`,
    roles && `Roles of heads: ${roles}.`,
    dimmed > 0 && `Dimmed: ${dimmed} heads that do not pass the filter.`,
    `${measure.about} Study ${study}.`,
  ].filter(Boolean);
}
