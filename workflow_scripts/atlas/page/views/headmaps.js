/** The map of a head on one segment, as lines or as a matrix. */

import { html, useMemo } from "../vendor/standalone.module.js";
import { segmentsOf, specials, stateOf, stateTitle } from "../lib/choice.js";
import { palette } from "../lib/drawing.js";
import { format } from "../lib/fragment.js";
import { number } from "../lib/format.js";
import { largest } from "../lib/maps.js";
import { headName, placeOf, typeOf } from "../lib/measures.js";
import { aboutType, ofType, queriesOf } from "../lib/pairtexts.js";
import { headColumns } from "../lib/rows.js";
import { saveImage } from "../lib/save.js";
import { category, ofWeights } from "../lib/scales.js";
import { tokenNames } from "../lib/specials.js";
import { firstWords, generatedIn, generatedNote } from "../lib/texts.js";
import { useMaps, useText } from "./stored.js";
import { LinesFigure, MatrixFigure, standalone } from "./figures.js";
import { Lines } from "./lines.js";
import { CellReadout, Matrix, useCursor } from "./matrix.js";
import { SaveCsv, SavePicture } from "./saves.js";
import { TextChoice } from "./textchoice.js";

const FAINTEST = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4];

/** Selects one of the checkpoints that the text has maps of. */
export function StateChoice({ model, segment, state, go }) {
  const states = Object.keys(segment.maps);
  if (states.length < 2) return null;
  return html`<label>Checkpoint
    <select id="state" value=${state} onChange=${(event) => go({ state: event.target.value })}>
      ${states.map((name) => html`<option value=${name}>${stateTitle(model, name)}</option>`)}
    </select>
  </label>`;
}

/** @param {{atlas: object, model: object, index: number, measures: object[], state: object, go: function, dark: boolean}} props */
export function HeadMaps({ atlas, model, index, measures, state, go, dark }) {
  const { segment, note, dim = false, loading } = useText(atlas, model, index, measures, state);
  if (loading) return html`<p class="soft loading">Reading the maps.</p>`;
  if (!segment) {
    return html`<section class="maps"><h3>Maps</h3><p class="soft">This file holds no maps of ${model.title}; About lists what was left out.</p></section>`;
  }
  return html`<${SegmentMaps} ...${{ atlas, model, index, state, go, dark, segment, dim, example: note }} />`;
}

function SegmentMaps({ atlas, model, index, state, go, dark, segment, dim, example }) {
  const faintest = FAINTEST.find((weight) => String(weight) === state.below) ?? 0.05;
  const hide = state.dim ? state.dim === "yes" : dim;
  const named = stateOf(segment, state.state);
  const type = typeOf(model, index);
  const read = ofType(segment, type);
  const { maps, error } = useMaps(atlas, [read.maps[named]]);
  const label = headName(model, index);
  const map = useMemo(() => maps?.[0].head(...placeOf(model, index)), [maps, index]);
  const [hidden, hiddenQueries] = useMemo(() => hiddenIn([read, queriesOf(read)], hide, model), [hide, read]);
  const generated = useMemo(() => generatedIn(segment), [segment]);
  const kind = state.map === "matrix" ? "matrix" : "lines";
  const shared = { map, label, colour: category(0, dark), tokens: read.tokens, queries: queriesOf(read).tokens, hidden, hiddenQueries, dark, generated, write };
  const title = `${label} on \u201c${firstWords(segment)}\u201d (${segment.title}), ${stateTitle(model, named)}`;
  const file = [model.name, label, segment.id, named, "weights"].join("_");
  const absent = state.segment && state.segment !== segment.id ? `There is no text ${state.segment} of ${model.title} in this file.` : null;
  return html`<section class="maps" aria-labelledby="maps-title">
    <div class="section-head row">
      <h3 id="maps-title">Where it attends</h3>
      <${Pair} value=${kind} names=${[["lines", "Lines"], ["matrix", "Matrix"]]} onChoose=${(map) => go({ map })} label="View" />
      <a class="small" href=${format({ ...state, view: "maps", segment: segment.id, state: named })}>All heads on this text</a>
      <span class="saves">
        <${SavePicture} save=${(type) => savePicture(kind, shared, faintest, title, file, type)} disabled=${!map} />
        <${SaveCsv} rows=${() => rowsOf(shared, segment, named, model, index)} name=${file} disabled=${!map} />
      </span>
    </div>
    <div class="choices row">
      <${TextChoice} segments=${segmentsOf(atlas, model)} ...${{ segment, go, named }} state=${state.state} />
      <${StateChoice} ...${{ model, segment, state: named, go }} />
      <${DimChoice} ...${{ hide, go, model }} otherwise=${dim} />
      ${kind === "lines" && html`<${Threshold} ...${{ faintest, go }} />`}
    </div>
    ${example && html`<p class="note">${example}${hide && dim && ` ${kind === "lines" ? "Not drawn" : "Faint"}: attention to ${dimmed(model)}${model.causal ? ", on which a head rests where it finds nothing" : ""}.`}</p>`}
    ${generatedNote(segment) && html`<p class="note">${generatedNote(segment)}</p>`}
    ${absent && html`<p class="soft">${absent}</p>`}
    ${type && html`<p class="note">${aboutType(type)}</p>`}
    ${error && html`<p role="alert">${error}</p>`}
    ${map && kind === "lines" && html`<${Lines} ...${shared} faintest=${faintest} key=${`${segment.id} ${type}`} /><${LineLegend} colour=${shared.colour} />`}
    ${map && kind === "matrix" && html`<${Scaled} ...${shared} key=${`${segment.id} ${type}`} />`}
    ${!map && !error && html`<p class="soft loading">Reading the maps.</p>`}
  </section>`;
}

// On what a head rests where it finds nothing: a decoder's on the first token, whatever it is.
function dimmed(model) {
  return model.causal ? "the first token" : model.types ? "special tokens" : Object.values(tokenNames(model)).join(" and ");
}

/** Which keys and which queries are faint: what `dimmed` names, of a decoder as a key alone. */
export function hiddenIn(sides, hide, { causal }) {
  return sides.map((each, side) => (causal ? each.tokens.map((_, index) => hide && side === 0 && index === 0) : specials(each).map((special) => hide && special)));
}

/** Dims the tokens on which a head rests; `otherwise`: whether they are without a choice. */
export function DimChoice({ hide, go, otherwise = false, model }) {
  const choose = (on) => go({ dim: on === otherwise ? "" : on ? "yes" : "no" });
  return html`<label class="check"><input type="checkbox" id="dim" checked=${hide} onChange=${(event) => choose(event.target.checked)} /> Dim ${dimmed(model)}</label>`;
}

/** A weight as people read it. */
export function write(weight) {
  return number(weight, 3);
}

/** Two buttons of which one is pressed. */
function Pair({ value, names, onChoose, label }) {
  return html`<span class="pair" role="group" aria-label=${label}>
    ${names.map(([name, title]) => html`<button type="button" aria-pressed=${name === value ? "true" : "false"} onClick=${() => onChoose(name)}>${title}</button>`)}
  </span>`;
}

function Threshold({ faintest, go }) {
  return html`<label>Hide weights below
    <select id="faintest" value=${String(faintest)} onChange=${(event) => go({ below: event.target.value })}>
      ${FAINTEST.map((weight) => html`<option value=${String(weight)}>${write(weight)}</option>`)}
    </select>
  </label>`;
}

function LineLegend({ colour }) {
  return html`<p class="legend-line row small soft" id="legend">
    <span class="line-key">Weight</span>
    ${[0.05, 0.2, 0.5, 1].map((weight) => html`<span class="line-key"><i style=${{ background: colour, opacity: Math.sqrt(weight) }}></i>${write(weight)}</span>`)}
  </p>`;
}

function Scaled({ label, map, dark, ...drawing }) {
  const cursor = useCursor();
  const top = useMemo(() => largest(map.filter((_, at) => !drawing.hidden[at % drawing.tokens.length])) || 1, [map, drawing.hidden]);
  const points = ofWeights(dark);
  const colour = useMemo(() => palette(points, [0, top]), [top, dark]);
  return html`<${CellReadout} ...${drawing} maps=${[{ label, map }]} cell=${cursor.cell} />
    <div class="matrices row"><figure>
      <figcaption>${label} <${ColourBar} ramp=${points} low=${write(0)} high=${write(top)} what="weight" /></figcaption>
      <${Matrix} ...${{ ...drawing, map, colour, cursor }} title=${`Head ${label}`} />
    </figure></div>`;
}

/** A bar of a ramp with its ends in words. */
export function ColourBar({ ramp: points, low, high, what }) {
  return html`<span class="colour-bar"><span>${what}</span><span>${low}</span><i style=${{ background: `linear-gradient(to right, ${points.join(", ")})` }}></i><span>${high}</span></span>`;
}

function savePicture(kind, shared, faintest, title, file, type) {
  const { label, map, generated } = shared;
  const only = generated.includes(true) ? ["In italics: tokens that the model generated."] : [];
  if (kind === "lines") {
    const note = `Opacity is the root of the weight; lines under ${write(faintest)} are not drawn.`;
    saveImage(standalone(html`<${LinesFigure} ...${{ ...shared, faintest, colour: category(0, false) }} />`), `${file}_lines`, { title, notes: [note, ...only] }, type);
    return;
  }
  const range = [0, largest(map) || 1];
  const matrix = { title: label, map, range, colour: palette(ofWeights(false), range), low: write(0), high: `weight ${write(range[1])}` };
  saveImage(standalone(html`<${MatrixFigure} ...${shared} matrices=${[matrix]} />`), `${file}_matrix`, { title, notes: ["Rows attend to columns.", ...only] }, type);
}

function rowsOf({ map, tokens, queries, generated }, segment, named, model, index) {
  const marked = generated.includes(true);
  return Array.from(map, (weight, place) => {
    const [query, key] = [Math.floor(place / tokens.length), place % tokens.length];
    return {
      model: model.name,
      state: named,
      segment: segment.id,
      ...headColumns(model, index),
      query: query + 1,
      key: key + 1,
      query_token: queries[query],
      key_token: tokens[key],
      ...(marked && { query_generated: generated[query], key_generated: generated[key] }),
      weight: Number(weight.toPrecision(6)),
    };
  });
}
