/** The heads nearest to a head by Jensen-Shannon distance. */

import { html, useMemo } from "../vendor/standalone.module.js";
import { segmentOf, sideText, stateOf, stateTitle } from "../lib/choice.js";
import { fromMaps, fromTable, nearest } from "../lib/distances.js";
import { format } from "../lib/fragment.js";
import { number } from "../lib/format.js";
import { headName, placeOf, typeOf } from "../lib/measures.js";
import { ofType } from "../lib/pairtexts.js";
import { headColumns } from "../lib/rows.js";
import { firstWords } from "../lib/texts.js";
import { useMaps } from "./stored.js";
import { SaveCsv } from "./saves.js";

const LISTED = 6;

/** @param {{atlas: object, model: object, index: number, state: object}} props */
export function Nearest({ atlas, model, index, state }) {
  const table = atlas.distances[model.name];
  if (table) {
    const distances = fromTable(table.value, index, model.n_heads * model.n_layers);
    const over = table.about;
    return html`<${List} ...${{ model, index, state, distances, over }} />`;
  }
  return html`<${OnSegment} ...${{ atlas, model, index, state }} />`;
}

function OnSegment({ atlas, model, index, state }) {
  const segment = ofType(segmentOf(atlas, model, state.segment, state.state), typeOf(model, index));
  const named = segment && stateOf(segment, state.state);
  const { maps } = useMaps(atlas, [segment?.maps[named] ?? null]);
  const distances = useMemo(() => maps?.[0] && withinType(model, index, maps[0]), [maps, index]);
  if (!distances) return null;
  const over = `Jensen-Shannon divergence in nats on this one text, \u201c${firstWords(segment)}\u201d (${segment.title}), ${stateTitle(model, named)}; the study has no distances over more texts.`;
  return html`<${List} ...${{ model, index, state, distances, over }} />`;
}

/** Distances to the heads of the same type of attention, null to the others. */
function withinType(model, index, maps) {
  const [layer, head] = placeOf(model, index);
  const place = layer * model.n_heads + head;
  const found = fromMaps(maps, place);
  return Array.from({ length: model.n_layers * model.n_heads }, (_, other) => found[other - index + place] ?? null);
}

function List({ model, index, state, distances, over }) {
  const found = nearest(distances, LISTED);
  const top = Math.max(...distances.filter((distance) => distance !== null));
  const own = { model, index, state: state.state ?? model.states[0].name };
  const rows = () =>
    nearest(distances, distances.length).map(({ index: other, distance }) => ({
      model: model.name,
      ...headColumns(model, index),
      ...Object.fromEntries(Object.entries(headColumns(model, other)).map(([key, value]) => [`other_${key}`, value])),
      distance,
    }));
  return html`<section class="nearest" aria-labelledby="nearest-title">
    <div class="section-head">
      <h3 id="nearest-title">Nearest heads</h3>
      <span class="saves"><${SaveCsv} rows=${rows} name=${`${model.name}_${headName(model, index)}_distances`} /></span>
    </div>
    <ol>
      ${found.map(({ index: other, distance }) => {
        const label = headName(model, other);
        const sides = { a: sideText(own), b: sideText({ ...own, index: other }) };
        return html`<li key=${other}>
          <a class="head" href=${format({ ...state, head: label })}>${label}</a>
          <span class="length" aria-hidden="true"><i style=${{ width: `${(100 * distance) / top}%` }}></i></span>
          <span class="number">${number(distance, 3)}</span>
          <a class="small" href=${format({ ...state, view: "compare", ...sides })} aria-label=${`Compare with ${label}`}>compare</a>
        </li>`;
      })}
    </ol>
    <p class="soft small">${over} The bar ends at the farthest head, ${number(top, 3)}.</p>
  </section>`;
}
