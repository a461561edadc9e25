/** The map of a head on one segment, as lines or as a matrix. */

import { html, useMemo, useState } from "../vendor/standalone.module.js";
import { segmentsOf, specials, stateOf, stateTitle } from "../lib/choice.js";
import { palette } from "../lib/drawing.js";
import { firstHidden, firstNotes, withoutFirst } from "../lib/first.js";
import { format } from "../lib/fragment.js";
import { number } from "../lib/format.js";
import { generatedIn, generatedNote } from "../lib/generated.js";
import { largest, weighted } from "../lib/maps.js";
import { headName, placeOf, typeOf } from "../lib/measures.js";
import { aboutType, ofType, queriesOf } from "../lib/pairtexts.js";
import { headColumns } from "../lib/rows.js";
import { saveImage } from "../lib/save.js";
import { category, ramp } from "../lib/scales.js";
import { tokenNames } from "../lib/specials.js";
import { firstWords } from "../lib/texts.js";
import { useMaps, useText } from "./stored.js";
import { LinesFigure, MatrixFigure, standalone } from "./figures.js";
import { Lines } from "./lines.js";
import { CellReadout, Matrix, useCursor } from "./matrix.js";
import { Outcome } from "./outcome.js";
import { SaveCsv, SavePicture } from "./saves.js";
import { TextChoice } from "./textchoice.js";

const KOBAYASHI = "Norms: the weight times the norm of the transformed value, ‖α f(x)‖ (Kobayashi et al. 2020): what a token contributes, not only where the head looks.";
const FAINTEST = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4]; // as shares of full opacity

/** Selects one of the checkpoints that the text has maps of. */
export function StateChoice({ model, segment, state, go }) {
  const states = Object.keys(segment.maps);
  return html`<label>Checkpoint
    <select id="state" value=${state} disabled=${states.length < 2} onChange=${(event) => go({ state: event.target.value })}>
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
  return html`<${SegmentMaps} key=${dim} ...${{ atlas, model, index, state, go, dark, segment, dim, example: note }} />`;
}

function SegmentMaps({ atlas, model, index, state, go, dark, segment, dim, example }) {
  const [faintest, setFaintest] = useState(0.05);
  const [hide, setHide] = useState(dim);
  const named = stateOf(segment, state.state);
  const type = typeOf(model, index);
  const read = ofType(segment, type);
  const hasNorms = Boolean(segment.norms[named]);
  const norms = hasNorms && state.norms === "1";
  const { maps, error } = useMaps(atlas, [read.maps[named], norms ? segment.norms[named] : null]);
  const first = firstHidden(model, state) && !norms;
  const heads = useMemo(() => maps && [drawn(model, index, maps, dark, first && read.tokens.length)], [maps, index, dark, first]);
  const sink = Boolean(dim && model.causal); // most of what a decoder's head has is on the first token
  const [hidden, hiddenQueries] = useMemo(() => hiddenIn([read, queriesOf(read)], hide, first || sink), [hide, read, first, sink]);
  const generated = useMemo(() => generatedIn(segment), [segment]);
  const top = useMemo(() => (heads && norms ? largest(...heads.map(({ map }) => map)) : 1), [heads, norms]);
  const kind = state.map === "matrix" ? "matrix" : "lines";
  const write = (weight) => number(weight, norms && top >= 10 ? 1 : norms ? 2 : 3);
  const tokens = { tokens: read.tokens, queries: queriesOf(read).tokens, hidden, hiddenQueries };
  const shared = { heads, ...tokens, top, write, dark, norms, first, generated };
  const title = `${headName(model, index)} on \u201c${firstWords(segment)}\u201d (${segment.title}), ${stateTitle(model, named)}`;
  const file = [model.name, headName(model, index), segment.id, named, norms ? "norms" : first ? "without-first" : "weights"].join("_");
  const absent = state.segment && state.segment !== segment.id ? `There is no text ${state.segment} of ${model.title} in this file.` : null;
  return html`<section class="maps" aria-labelledby="maps-title">
    <div class="section-head">
      <h3 id="maps-title">Where it attends</h3>
      <${Pair} value=${kind} names=${[["lines", "Lines"], ["matrix", "Matrix"]]} onChoose=${(map) => go({ map })} label="View" />
      ${hasNorms && html`<${Pair} value=${norms ? "1" : ""} names=${[["", "Weights"], ["1", "Norms"]]} onChoose=${(value) => go({ norms: value })} label="Values" />`}
      <a class="small" href=${format({ ...state, view: "maps", segment: segment.id, state: named })}>All heads on this text</a>
      <span class="saves">
        <${SavePicture} save=${(type) => savePicture(kind, shared, faintest * top, title, file, type)} disabled=${!heads} />
        <${SaveCsv} rows=${() => rowsOf(shared, segment, named, model)} name=${file} disabled=${!heads} />
      </span>
    </div>
    <div class="choices">
      <${TextChoice} segments=${segmentsOf(atlas, model)} ...${{ segment, go }} state=${state.state} />
      <${StateChoice} ...${{ model, segment, state: named, go }} />
      <${Outcome} ...${{ segment, state: named }} />
      <${DimChoice} ...${{ hide, setHide, model, segments: [read, queriesOf(read)] }} />
      ${!norms && html`<${FirstChoice} ...${{ models: [model], state, go }} />`}
      ${kind === "lines" && html`<${Threshold} ...${{ faintest, setFaintest, top, write }} />`}
    </div>
    ${example && html`<p class="note">${example}${hide && dim && ` ${kind === "lines" ? "Not drawn" : "Faint"}: attention to ${model.causal ? "the first token, on which a head rests where it finds nothing" : specialTokens(model)}.`}</p>`}
    ${generatedNote(segment) && html`<p class="note">${generatedNote(segment)}</p>`}
    ${heads && first && firstNotes(heads, read.tokens, tokens.queries).map((sentence) => html`<p class="note" key=${sentence}><bdi>${sentence}</bdi></p>`)}
    ${absent && html`<p class="soft">${absent}</p>`}
    ${type && html`<p class="note">${aboutType(type)}</p>`}
    ${norms && html`<p class="note">${KOBAYASHI} Full strength is ${write(top)}, the largest norm drawn here.</p>`}
    ${error && html`<p role="alert">${error}</p>`}
    ${heads && kind === "lines" && html`<${Lines} ...${shared} faintest=${faintest * top} key=${`${segment.id} ${type}`} /><${LineLegend} ...${shared} />`}
    ${heads && kind === "matrix" && html`<${Matrices} ...${shared} key=${`${segment.id} ${type}`} />`}
    ${!heads && !error && html`<p class="soft loading">Reading the maps.</p>`}
  </section>`;
}

function specialTokens(model) {
  return Object.values(tokenNames(model)).join(" and ");
}

/** Which keys and which queries are faint: special tokens where they are dimmed, and a first key that is hidden. */
export function hiddenIn(sides, hide, first) {
  return sides.map((each, side) => {
    const dimmed = hide ? specials(each) : each.tokens.map(() => false);
    return first && side === 0 ? dimmed.with(0, true) : dimmed;
  });
}

/** Dims the tokens that a tokenizer adds; nothing where a decoder's text has none. */
export function DimChoice({ hide, setHide, model, segments }) {
  if (model.causal && !segments.flatMap(specials).includes(true)) return null;
  return html`<label class="check"><input type="checkbox" checked=${hide} onChange=${(event) => setHide(event.target.checked)} /> Dim ${model.types || model.causal ? "special tokens" : specialTokens(model)}</label>`;
}

/** Hides the first token of decoders, and scales the other weights. */
export function FirstChoice({ models, state, go }) {
  if (!models.some(({ causal }) => causal)) return null;
  return html`<label class="check" title="The other weights of each row are scaled to sum to 1">
    <input type="checkbox" id="first" checked=${state.first === "hidden"} onChange=${(event) => go({ first: event.target.checked ? "hidden" : "" })} /> Without the first token
  </label>`;
}

/** A head's map as it is drawn; `keys`: how many there are where the first of them is hidden. */
function drawn(model, head, [weights, norms], dark, keys) {
  const [layer, within] = placeOf(model, head);
  const map = weights.head(layer, within);
  return {
    label: headName(model, head),
    index: head,
    colour: category(0, dark),
    light: category(0, false),
    ...(keys ? withoutFirst(map, keys) : { map: norms ? weighted(map, norms.head(layer, within)) : map }),
  };
}

/** Two or more buttons of which one is pressed. */
export function Pair({ value, names, onChoose, label }) {
  return html`<span class="pair" role="group" aria-label=${label}>
    ${names.map(([name, title]) => html`<button type="button" aria-pressed=${name === value ? "true" : "false"} onClick=${() => onChoose(name)}>${title}</button>`)}
  </span>`;
}

function Threshold({ faintest, setFaintest, top, write }) {
  return html`<label>Hide weights below
    <select value=${String(faintest)} onChange=${(event) => setFaintest(Number(event.target.value))}>
      ${FAINTEST.map((share) => html`<option value=${String(share)}>${write(share * top)}</option>`)}
    </select>
  </label>`;
}

function LineLegend({ heads, top, write, norms }) {
  const samples = [0.05, 0.2, 0.5, 1];
  return html`<p class="legend-line" id="legend">
    ${heads.map(({ label, colour }) => html`<span class="line-key"><i style=${{ background: colour }}></i>${label}</span>`)}
    <span class="line-key">${norms ? "Norm" : "Weight"}</span>
    ${samples.map((share) => html`<span class="line-key"><i style=${{ background: heads[0].colour, opacity: Math.sqrt(share) }}></i>${write(share * top)}</span>`)}
  </p>`;
}

function Matrices({ heads, write, ...drawing }) {
  const cursor = useCursor();
  return html`<${CellReadout} ...${{ maps: heads, tokens: drawing.tokens, queries: drawing.queries, cell: cursor.cell, write }} />
    <div class="matrices">
      ${heads.map(({ label, map, empty }) => html`<${Scaled} key=${label} ...${{ ...drawing, label, map, empty, write, cursor }} />`)}
    </div>`;
}

function Scaled({ label, map, dark, norms, ...drawing }) {
  const { write } = drawing;
  const top = useMemo(() => largest(map) || 1, [map]);
  const points = ramp("sequential", dark);
  const colour = useMemo(() => palette(points, [0, top]), [top, dark]);
  return html`<figure>
    <figcaption>${label} <${ColourBar} ramp=${points} low=${write(0)} high=${write(top)} what=${norms ? "norm" : "weight"} /></figcaption>
    <${Matrix} ...${{ ...drawing, map, colour }} title=${`Head ${label}`} />
  </figure>`;
}

/** A bar of a ramp with its ends in words. */
export function ColourBar({ ramp: points, low, high, what }) {
  return html`<span class="colour-bar"><span>${what}</span><span>${low}</span><i style=${{ background: `linear-gradient(to right, ${points.join(", ")})` }}></i><span>${high}</span></span>`;
}

function savePicture(kind, shared, faintest, title, file, type) {
  const { heads, tokens, queries, hidden, hiddenQueries, top, write, norms, first, generated } = shared;
  const what = norms ? "norm" : "weight";
  const only = first ? firstNotes(heads, tokens, queries) : [];
  if (generated.includes(true)) only.push("In italics: tokens that the model generated.");
  const light = heads.map(({ label, light: colour, map }) => ({ label, colour, map }));
  if (kind === "lines") {
    const note = `Opacity is the root of the ${what} over ${write(top)}; lines under ${write(faintest)} are not drawn.`;
    saveImage(standalone(html`<${LinesFigure} ...${{ heads: light, tokens, queries, top, faintest, hidden, hiddenQueries, generated }} />`), `${file}_lines`, { title, notes: [note, ...only] }, type);
    return;
  }
  const matrices = heads.map(({ label, map }) => {
    const range = [0, largest(map) || 1];
    return { title: label, map, range, colour: palette(ramp("sequential", false), range), low: write(0), high: `${what} ${write(range[1])}` };
  });
  saveImage(standalone(html`<${MatrixFigure} ...${{ matrices, tokens, queries, generated }} />`), `${file}_matrix`, { title, notes: ["Rows attend to columns.", ...only] }, type);
}

function rowsOf({ heads, tokens, queries, norms, first, generated }, segment, named, model) {
  const n = tokens.length;
  const value = norms ? "norm" : first ? "weight_without_first" : "weight";
  const marked = generated.includes(true);
  return heads.flatMap(({ index: head, map, empty = [] }) =>
    Array.from(map, (weight, index) => ({
      model: model.name,
      state: named,
      segment: segment.id,
      ...headColumns(model, head),
      query: Math.floor(index / n) + 1,
      key: (index % n) + 1,
      query_token: queries[Math.floor(index / n)],
      key_token: tokens[index % n],
      ...(marked && { query_generated: generated[Math.floor(index / n)], key_generated: generated[index % n] }),
      [value]: empty.includes(Math.floor(index / n)) ? null : Number(weight.toPrecision(6)),
    })),
  );
}
