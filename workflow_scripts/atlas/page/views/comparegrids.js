/** Grids of one measure for both sides of a comparison and of their difference, and of changed maps. */

import { html, useMemo } from "../vendor/standalone.module.js";
import { sideText } from "../lib/choice.js";
import { number } from "../lib/format.js";
import { jensenShannon } from "../lib/maps.js";
import { claim, denial, hatched, headName, valueText } from "../lib/measures.js";
import { apart, differences, sameShape } from "../lib/pairs.js";
import { headColumns } from "../lib/rows.js";
import { saveImage } from "../lib/save.js";
import { colours, domain, isDown, ramp } from "../lib/scales.js";
import { sideName } from "./comparemaps.js";
import { GridsFigure, standalone } from "./figures.js";
import { ColourBar } from "./headmaps.js";
import { useMaps } from "./stored.js";
import { MiniGrid } from "./minigrid.js";
import { MeasurePicker } from "./picker.js";
import { SaveCsv, SavePicture } from "./saves.js";

/** @param {{atlas: object, a: object, b: object, pairs: object[], state: object, go: function, dark: boolean}} props */
export function CompareGrids({ atlas, a, b, pairs, state, go, dark }) {
  const numbers = pairs.filter((pair) => pair.a.scale !== "category" && domain(pair.a) && domain(pair.b));
  if (numbers.length === 0) return null;
  const pair = numbers.find((one) => one.a.id === state.measure) ?? numbers[0];
  const measures = numbers.map((one) => ({ ...one.a, title: one.title }));
  const names = [sideName(a, b), sideName(b, a)];
  const grids = gridsOf(pair, a, b, names);
  const file = `${pair.a.id}_${sideText(a)}_${sideText(b)}`.replaceAll("/", "-");
  return html`<section class="grids" aria-labelledby="compare-grids">
    <div class="section-head">
      <h3 id="compare-grids">In the grid</h3>
      <${MeasurePicker} id="measure" label="Measure" ...${{ atlas, measures, value: pair.a.id }} choose=${(id) => go({ measure: id })} />
      <${Saves} ...${{ file, grids }} title=${pair.title} rows=${() => rowsOf(grids, pair)} />
    </div>
    <div class="grids-row">${grids.map((grid) => html`<${Figure} key=${grid.title} ...${grid} dark=${dark} onChoose=${choose(grid, a, b, go)} />`)}</div>
    <p class="note">${pair.a.about}</p>
    ${a.model !== b.model && html`<p class="note">Heads at one place in two models are partners only where one model was trained from the other.</p>`}
    ${grids.length === 2 && html`<p class="note">The models differ in layers or heads, so heads have no partners and no difference is taken.</p>`}
  </section>`;
}

/** A click on a head puts it on its side; on both where the grid is of both. */
function choose({ sides }, a, b, go) {
  return (index) => go(Object.fromEntries(sides.map((side) => [side, sideText({ ...(side === "a" ? a : b), index })])));
}

function gridsOf(pair, a, b, names) {
  const ends = [...domain(pair.a), ...domain(pair.b)];
  const range = [Math.min(...ends), Math.max(...ends)];
  const grid = (measure, side, marked, title) => ({
    title,
    model: side.model,
    sides: [],
    measure,
    values: measure.value,
    range,
    colouring: measure,
    marked,
    crossed: (i) => hatched(measure, i),
    text: (i) => `${headName(side.model, i)}: ${valueText(measure, i)}`,
    what: [measure.unit, claim(measure) && `hatched: ${denial(measure)}`].filter(Boolean).join("; "),
    decimals: measure.decimals,
  });
  if (pair.a === pair.b) return [{ ...grid(pair.a, a, [a.index, b.index], `A ${names[0]} and B ${names[1]}`), sides: ["b"] }];
  const both = [
    { ...grid(pair.a, a, [a.index], `A: ${names[0]}`), sides: ["a"] },
    { ...grid(pair.b, b, [b.index], `B: ${names[1]}`), sides: ["b"] },
  ];
  if (!sameShape(a.model, b.model)) return both;
  const values = differences(pair.a.value, pair.b.value);
  const reach = Math.max(...values.map((value) => Math.abs(value ?? 0))) || 1;
  const unit = pair.a.unit === "%" ? "points" : pair.a.unit;
  const gap = {
    title: "B − A",
    model: a.model,
    sides: ["a", "b"],
    values,
    range: [-reach, reach],
    colouring: { scale: "diverging", harm: pair.a.harm },
    marked: [a.index, b.index],
    crossed: (i) => apart(pair, i, i).overlap === true,
    text: (i) => `${headName(a.model, i)}: ${number(values[i], pair.a.decimals)} ${unit}`,
    what: [unit, pair.a.low && pair.b.low && "hatched: the intervals overlap"].filter(Boolean).join("; "),
    decimals: pair.a.decimals,
  };
  return [...both, gap];
}

/** What is written next to a grid, and its colours as saved. */
function dressed({ colouring, range, decimals, ...grid }) {
  const [low, high] = range.map((end) => number(end, decimals));
  return { ...grid, range, low, high, light: colours(colouring, false, range) };
}

/** One grid with its colour bar. */
function Figure({ dark, onChoose, ...grid }) {
  const { title, model, values, marked, crossed, text, what, low, high, light } = dressed(grid);
  const colour = colours(grid.colouring, dark, grid.range);
  const known = values.filter((value) => value !== null).length;
  const label = `${title}: ${known} of ${values.length} heads known`;
  return html`<figure>
    <figcaption><bdi>${title}</bdi> <${ColourBar} ramp=${ramp(grid.colouring.scale, dark, isDown(grid.colouring))} ...${{ low, high, what }} /></figcaption>
    <${MiniGrid} ...${{ model, values, colour, light, marked, crossed, text, label, onChoose }} />
  </figure>`;
}

function Saves({ file, title, grids, rows }) {
  const save = (type) => saveImage(standalone(html`<${GridsFigure} grids=${grids.map(dressed)} />`), file, { title }, type);
  return html`<span class="saves">
    <${SavePicture} save=${save} />
    <${SaveCsv} rows=${rows} name=${file} />
  </span>`;
}

function rowsOf(grids, pair) {
  return grids.flatMap(({ title, model, values, measure }) =>
    values.map((value, i) => ({
      side: title,
      model: model.name,
      measure: pair.a.id,
      ...headColumns(model, i),
      value,
      low: measure?.low?.[i],
      high: measure?.high?.[i],
    })),
  );
}

/** How far every head's maps on the segment differ between two states of one model. */
export function ChangedMaps({ atlas, a, b, segments: [ofA], go, dark }) {
  const comparable = ofA && a.model === b.model;
  const ids = comparable ? [ofA.maps[a.state] ?? null, ofA.maps[b.state] ?? null] : [null, null];
  const { maps } = useMaps(atlas, ids);
  const values = useMemo(() => (maps?.[0] && maps[1] ? changes(maps) : null), [maps]);
  if (!values || ids[0] === ids[1]) return null;
  const top = Math.max(...values.filter((value) => !Number.isNaN(value))) || 1;
  const grid = {
    title: `Every head, A against B`,
    model: a.model,
    values,
    range: [0, top],
    colouring: { scale: "sequential" },
    marked: [a.index],
    text: (i) => `${headName(a.model, i)}: ${number(values[i], 3)} nats`,
    what: "nats",
    decimals: 3,
  };
  const rank = values.filter((value) => value > values[a.index]).length + 1;
  const file = `changed-maps_${sideText(a)}_${sideText(b)}_${ofA.id}`.replaceAll("/", "-");
  const rows = () => values.map((distance, i) => ({ model_a: a.model.name, state_a: a.state, model_b: b.model.name, state_b: b.state, segment: ofA.id, ...headColumns(a.model, i), distance }));
  const pick = (index) => go({ a: sideText({ ...a, index }), b: sideText({ ...b, index }) });
  return html`<section class="grids" aria-labelledby="changed-maps">
    <div class="section-head"><h3 id="changed-maps">Which heads' maps differ</h3><${Saves} ...${{ file, rows }} grids=${[grid]} title="Jensen-Shannon divergence of each head's maps, A against B" /></div>
    <div class="grids-row"><${Figure} ...${grid} dark=${dark} onChoose=${pick} /></div>
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
