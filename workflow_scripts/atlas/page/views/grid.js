/** The grid of heads, coloured by a measure, with its legend, filters and means. */

import { html, useEffect, useMemo } from "../vendor/standalone.module.js";
import { formatFilters, parseFilters, passing, withFilter } from "../lib/filters.js";
import { layout } from "../lib/layout.js";
import { hatched, hatchRule, headName, measureOf, modelOf } from "../lib/measures.js";
import { fileName, measureRows } from "../lib/rows.js";
import { saveImage } from "../lib/save.js";
import { colours } from "../lib/scales.js";
import { Cells, Hatches } from "./cells.js";
import { AboutMeasure, Context } from "./context.js";
import { ClaimFilter, Filters } from "./filters.js";
import { pointing, useWidth } from "./hooks.js";
import { Legend } from "./legend.js";
import { Axes, LayerMeans } from "./margins.js";
import { Ranked } from "./ranked.js";
import { Roles } from "./roles.js";
import { SaveCsv, SavePicture } from "./saves.js";
import { Tooltip } from "./tooltip.js";

/** @param {{atlas, state, go, dark}} props */
export function GridView({ atlas, state, go, dark }) {
  const model = modelOf(atlas, state);
  const measure = measureOf(atlas, state);
  const filters = useMemo(() => parseFilters(state.filter), [state.filter]);
  const passes = useMemo(() => passing(atlas, model, filters), [atlas, model, filters]);
  const open = (index) => go({ view: "head", head: headName(model, index), measure: measure.id });
  useEffect(() => pointing().onPointerLeave, []);
  if (!measure) return html`<p>No measures of ${model.title} are in this study.</p>`;
  const own = filters.filter(({ id }) => id === measure.id);
  const choose = (value) => {
    const there = own.find((one) => one.op === ":" && one.value === value);
    go({ filter: formatFilters(there ? filters.filter((one) => one !== there) : withFilter(filters, { id: measure.id, op: ":", value })) });
  };
  return html`
    <${Context} ...${{ atlas, model, measure, go }} />
    <${Filters} ...${{ atlas, model, filters, passes, go }} />
    <div class="side-by-side">
      <div class="main-picture">
        <${HeadsPicture} ...${{ model, measure, passes, open, dark }} study=${atlas.study.name} />
      </div>
      <aside aria-label="Legend and filters">
        <${Legend} ...${{ measure, dark, filters: own, choose }} />
        <${Roles} ...${{ model, filters, go }} />
        <${ClaimFilter} ...${{ measure, filters, go }} />
        <${Ranked} ...${{ model, measure, passes, open }} />
      </aside>
      <div class="beneath"><${AboutMeasure} measure=${measure} /></div>
    </div>
  `;
}

/** The picture with its buttons; `study` is named in what is saved. */
function HeadsPicture({ model, measure, passes, open, dark, study }) {
  const [box, width] = useWidth(720);
  const place = useMemo(() => layout(width, model), [width, model]);
  const colour = useMemo(() => colours(measure, dark), [measure, dark]);
  const light = useMemo(() => colours(measure, false), [measure]);
  const name = fileName(study, model.name, measure.id);
  const svg = () => box.current.querySelector("svg.heads");
  const save = (type) =>
    saveImage(svg(), name, {
      title: `${measure.title}, ${model.title}${measure.state === "pretrained" ? "" : `, ${measure.state}`}`,
      notes: captions(measure, study, passes),
      below: [document.querySelector("#legend svg.picture")],
    }, type);
  return html`
    <figure class="heads-figure" ref=${box} ...${pointing()}>
      <svg class="picture heads" width=${place.width} height=${place.height} viewBox=${`0 0 ${place.width} ${place.height}`}>
        <${Hatches} />
        <${Axes} ...${{ model, place }} />
        <${LayerMeans} ...${{ measure, model, place }} />
        <${Cells} key=${model.name} ...${{ model, measure, place, colour, light, passes, open }} />
      </svg>
      <${Tooltip} ...${{ model, measure, place, width }} />
      <div class="row save">
        <${SavePicture} save=${save} />
        <${SaveCsv} rows=${() => measureRows(model, measure)} name=${name} />
      </div>
    </figure>
  `;
}

function captions(measure, study, passes) {
  const count = measure.value.filter((_, index) => hatched(measure, index)).length;
  const rule = hatchRule(measure);
  const dimmed = passes.filter((one) => !one).length;
  return [
    rule && count > 0 && `Hatched, ${count} of ${measure.value.length} heads: ${rule}.`,
    dimmed > 0 && `Dimmed: ${dimmed} heads that do not pass the filter.`,
    `${measure.about} Study ${study}.`,
  ].filter(Boolean);
}
