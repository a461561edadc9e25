/** How far the maps of every head differ between two states of a model. */

import { html, useMemo } from "../vendor/standalone.module.js";
import { sideText } from "../lib/choice.js";
import { number } from "../lib/format.js";
import { jensenShannon } from "../lib/maps.js";
import { headName } from "../lib/measures.js";
import { headColumns } from "../lib/rows.js";
import { saveImage } from "../lib/save.js";
import { colours, ramp } from "../lib/scales.js";
import { GridFigure, standalone } from "./figures.js";
import { ColourBar } from "./headmaps.js";
import { MiniGrid } from "./minigrid.js";
import { SaveCsv, SavePicture } from "./saves.js";
import { useMaps } from "./stored.js";

/** How far every head's maps on the segment differ between two states of one model. */
export function ChangedMaps({ atlas, a, b, segments: [ofA], go, dark }) {
  const comparable = ofA && a.model === b.model;
  const ids = comparable ? [ofA.maps[a.state] ?? null, ofA.maps[b.state] ?? null] : [null, null];
  const { maps } = useMaps(atlas, ids);
  const values = useMemo(() => (maps?.[0] && maps[1] ? changes(maps) : null), [maps]);
  if (!values || ids[0] === ids[1]) return null;
  const top = Math.max(...values.filter((value) => !Number.isNaN(value))) || 1;
  const [low, high] = [number(0, 3), number(top, 3)];
  const [colour, light] = [dark, false].map((how) => colours({ scale: "sequential" }, how, [0, top]));
  const grid = { model: a.model, values, colour, light, marked: [a.index], text: (i) => `${headName(a.model, i)}: ${number(values[i], 3)} nats` };
  const title = "Jensen-Shannon divergence of each head's maps, A against B";
  const save = (type) => saveImage(standalone(html`<${GridFigure} ...${{ ...grid, low, high, range: [0, top], what: "nats" }} />`), file, { title }, type);
  const rank = values.filter((value) => value > values[a.index]).length + 1;
  const file = `changed-maps_${sideText(a)}_${sideText(b)}_${ofA.id}`.replaceAll("/", "-");
  const rows = () => values.map((distance, i) => ({ model_a: a.model.name, state_a: a.state, model_b: b.model.name, state_b: b.state, segment: ofA.id, ...headColumns(a.model, i), distance }));
  const pick = (index) => go({ a: sideText({ ...a, index }), b: sideText({ ...b, index }) });
  return html`<section aria-labelledby="changed-maps">
    <div class="section-head"><h3 id="changed-maps">Which heads' maps differ</h3><span class="saves"><${SavePicture} save=${save} /><${SaveCsv} rows=${rows} name=${file} /></span></div>
    <figure>
      <figcaption>Every head, A against B <${ColourBar} ramp=${ramp("sequential", dark)} ...${{ low, high }} what="nats" /></figcaption>
      <${MiniGrid} ...${grid} label=${title} onChoose=${pick} />
    </figure>
    <p class="note">Jensen-Shannon divergence of each head's own two maps on this one text; ${headName(a.model, a.index)} is ${rank} of ${values.length}, 1 for the largest. One text shows little about others.</p>
  </section>`;
}

function changes([left, right]) {
  const [layers, heads] = left.shape;
  return Array.from({ length: layers * heads }, (_, i) => {
    const place = [Math.floor(i / heads), i % heads];
    return jensenShannon(left.head(...place), right.head(...place));
  });
}
