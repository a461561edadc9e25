/** The maps of two heads, or of one head in two states, and their difference. */

import { html, useMemo, useState } from "../vendor/standalone.module.js";
import { sideText, stateTitle } from "../lib/choice.js";
import { palette } from "../lib/drawing.js";
import { firstHidden, firstNotes, rowsOfBoth, withoutFirst } from "../lib/first.js";
import { number } from "../lib/format.js";
import { generatedIn, generatedNote } from "../lib/generated.js";
import { difference, jensenShannon, largest, meanAbsoluteDifference, weighted } from "../lib/maps.js";
import { headName, placeOf } from "../lib/measures.js";
import { queriesOf } from "../lib/pairtexts.js";
import { saveCsv, saveImage } from "../lib/save.js";
import { ramp } from "../lib/scales.js";
import { firstWords } from "../lib/texts.js";
import { sameTokens } from "../lib/tokens.js";
import { MatrixFigure, standalone } from "./figures.js";
import { ColourBar, DimChoice, FirstChoice, hiddenIn, Pair } from "./headmaps.js";
import { useMaps } from "./stored.js";
import { SavePicture } from "./saves.js";
import { CellReadout, Matrix, useCursor } from "./matrix.js";
import { Outcome } from "./outcome.js";
import { TextChoice } from "./textchoice.js";

const SMALLEST = 3; // pixels of a cell where three matrices share the width

/** "3-7", with what distinguishes it from the other side. */
export function sideName(side, other) {
  const parts = [headName(side.model, side.index)];
  if (side.model.name !== other.model.name) parts.push(side.model.title);
  if (side.state !== other.state) parts.push(stateTitle(side.model, side.state));
  return parts.join(", ");
}

/** @param {{atlas: object, a: object, b: object, segments: object[], suited: object[], state: object, go: function, dark: boolean}} props */
export function CompareMaps({ atlas, a, b, segments: [ofA, ofB], suited, state, go, dark }) {
  const [hide, setHide] = useState(false);
  const hasNorms = Boolean(ofA?.norms[a.state] && ofB?.norms[b.state]);
  const norms = hasNorms && state.norms === "1";
  const ids = [ofA?.maps[a.state], ofB?.maps[b.state], norms ? ofA.norms[a.state] : null, norms ? ofB.norms[b.state] : null];
  const { maps, error } = useMaps(atlas, ids.map((id) => id ?? null));
  const same = Boolean(ofA && ofB && sameTokens(ofA.tokens, ofB.tokens) && sameTokens(queriesOf(ofA).tokens, queriesOf(ofB).tokens));
  const first = [a, b].map(({ model }) => firstHidden(model, state) && !norms);
  const drawn = useMemo(() => maps && shown(maps, a, b, norms, first), [maps, a.index, b.index, a.model, b.model, first.join()]);
  const sides = drawn?.map((side) => side?.map ?? null);
  const absent = [[a, ofA], [b, ofB]].filter(([side, segment]) => !segment?.maps[side.state]).map(([side]) => sideText(side));
  const write = (value) => number(value, norms ? 2 : 3);
  const complete = sides && absent.length === 0;
  const names = [sideName(a, b), sideName(b, a)];
  const shared = { sides, empty: drawn?.map((side) => side?.empty), segments: [ofA, ofB], same, norms, write, names, first };
  const notes = complete ? notesOf(shared, drawn) : [];
  const file = `${sideText(a)}_${sideText(b)}_${ofA?.id}`.replaceAll("/", "-");
  return html`<section class="maps" aria-labelledby="compare-maps">
    <div class="section-head">
      <h3 id="compare-maps">Maps</h3>
      ${hasNorms && html`<${Pair} value=${norms ? "1" : ""} names=${[["", "Weights"], ["1", "Norms"]]} onChoose=${(value) => go({ norms: value })} label="Values" />`}
      <span class="saves">
        <${SavePicture} disabled=${!complete} save=${(type) => savePicture(shared, file, notes, type)} />
        <button class="save-csv" disabled=${!complete} onClick=${() => saveCsv(rowsOf(shared), file)}>CSV</button>
      </span>
    </div>
    <div class="choices">
      ${ofA && html`<${TextChoice} ...${{ segments: suited.length > 0 ? suited : [ofA], segment: suited.find(({ id }) => id === ofA.id) ?? ofA, go }} />`}
      ${ofA && html`<${Outcome} segment=${ofA} state=${ofA.predictions?.[b.state] ? b.state : a.state} />`}
      ${ofA && html`<${DimChoice} ...${{ hide, setHide, model: a.model, segments: [ofA, ofB ?? ofA] }} />`}
      ${!norms && html`<${FirstChoice} ...${{ models: [a.model, b.model], state, go }} />`}
    </div>
    ${state.segment && ofA && ofA.id !== state.segment && html`<p class="soft">There are no maps of both sides on ${state.segment}; this is another text.</p>`}
    ${absent.length > 0 && html`<p class="soft">This file holds no maps of ${absent.join(" and of ")} on this text.</p>`}
    ${error && html`<p role="alert">${error}</p>`}
    ${notes.map((sentence) => html`<p class="note" key=${sentence}><bdi>${sentence}</bdi></p>`)}
    ${complete && html`<${Apart} ...${shared} /><${Three} ...${{ ...shared, hide, dark }} key=${ofA.id} />`}
    ${!maps && !error && html`<p class="soft loading">Reading the maps.</p>`}
  </section>`;
}

/** What is generated, and what is hidden of the first token, in sentences. */
function notesOf({ segments, names, first }, drawn) {
  const hidden = segments.flatMap((segment, side) => (first[side] ? firstNotes([{ label: names[side], ...drawn[side] }], segment.tokens, queriesOf(segment).tokens) : []));
  return [...new Set([...segments.map(generatedNote).filter(Boolean), ...hidden])];
}

function shown([weightsA, weightsB, normsA, normsB], a, b, norms, first) {
  const of = (weights, byKey, { model, index }, hides) => {
    if (!weights) return null;
    const place = placeOf(model, index);
    const map = weights.head(...place);
    if (hides) return withoutFirst(map, weights.shape[3]);
    return { map: norms ? weighted(map, byKey.head(...place)) : map };
  };
  return [of(weightsA, normsA, a, first[0]), of(weightsB, normsB, b, first[1])];
}

function Apart({ sides: [a, b], segments, same, norms, first, write }) {
  if (!same) {
    const [a, b] = segments.map((segment) => `\u201c${firstWords(segment)}\u201d (${segment.title})`);
    return html`<p class="note"><bdi>${a === b ? "" : `A is ${a}, B ${b}. `}The two texts have different tokens: they stand side by side, and no difference is taken.</bdi></p>`;
  }
  const keys = segments[0].tokens.length;
  const rows = first.includes(true) ? rowsOfBoth(a, b, keys) : [a, b];
  const distance = norms || rows[0].length === 0 ? null : jensenShannon(...rows, keys);
  return html`<dl class="apart">
    ${distance !== null && html`<div><dt>Jensen-Shannon divergence</dt><dd>${number(distance, 3)} <small class="soft">nats, mean over the ${first.includes(true) ? `${rows[0].length / keys} queries with weights left in both` : "queries"}; 0 to ${number(Math.log(2), 3)}</small></dd></div>`}
    <div><dt>Mean absolute difference</dt><dd>${number(meanAbsoluteDifference(a, b), norms ? 3 : 4)} <small class="soft">over all pairs of tokens</small></dd></div>
    <div><dt>Largest difference</dt><dd>${write(largest(difference(a, b)))}</dd></div>
  </dl>`;
}

/** The matrices to draw: A and B on one scale, and B - A around zero. */
function matricesOf({ sides: [a, b], empty = [], same, norms, write, names }, dark) {
  const what = norms ? "norm" : "weight";
  const range = [0, largest(a, b) || 1];
  const points = ramp("sequential", dark);
  const own = { points, range, colour: palette(points, range), low: write(0), high: write(range[1]), what };
  const found = [{ ...own, label: "A", title: `A: ${names[0]}`, map: a, empty: empty[0] }, { ...own, label: "B", title: `B: ${names[1]}`, map: b, empty: empty[1] }];
  if (!same) return found;
  const gap = difference(b, a);
  const reach = largest(gap) || 1;
  const both = ramp("diverging", dark);
  found.push({
    label: "B − A",
    title: "B − A",
    map: gap,
    points: both,
    range: [-reach, reach],
    colour: palette(both, [-reach, reach]),
    low: `A more ${write(-reach)}`,
    high: `${write(reach)} B more`,
    what: "",
  });
  return found;
}

function Three({ sides, empty, segments, same, norms, write, names, first, hide, dark }) {
  const cursor = useCursor();
  const other = useCursor();
  const matrices = useMemo(() => matricesOf({ sides, empty, same, norms, write, names }, dark), [...sides, same, norms, dark, names.join()]);
  const hidden = useMemo(() => segments.map((segment, side) => hiddenIn([segment, queriesOf(segment)], hide, first[side])), [segments[0], segments[1], hide, first.join()]);
  const readable = same ? [[matrices, segments[0], cursor]] : [[matrices.slice(0, 1), segments[0], cursor], [matrices.slice(1), segments[1], other]];
  const read = readable.filter(([, , { cell }]) => cell);
  const readout = (maps, segment, { cell }) => html`<${CellReadout} ...${{ maps, tokens: segment.tokens, queries: queriesOf(segment).tokens, cell, write }} />`;
  return html`
    ${(read.length > 0 ? read : readable.slice(0, 1)).map((parts) => readout(...parts))}
    <div class="matrices">
      ${matrices.map(({ label, title, map, empty: none, colour, points, low, high, what }, place) => {
        const which = !same && place === 1 ? 1 : 0;
        const own = { map, empty: none, generated: generatedIn(segments[which]), colour, write, title, smallest: SMALLEST, cursor: which ? other : cursor };
        return html`<figure key=${label}>
          <figcaption><bdi>${title}</bdi> <${ColourBar} ramp=${points} ...${{ low, high, what }} /></figcaption>
          <${Matrix} ...${own} tokens=${segments[which].tokens} queries=${queriesOf(segments[which]).tokens} hidden=${hidden[which][0]} hiddenQueries=${hidden[which][1]} />
        </figure>`;
      })}
    </div>`;
}

function savePicture(shared, file, notes, type) {
  const matrices = matricesOf(shared, false);
  const { segments: [ofA, ofB], same } = shared;
  const pictures = same ? [[matrices, ofA]] : [[matrices.slice(0, 1), ofA], [matrices.slice(1), ofB]];
  const [first, ...below] = pictures.map(([drawn, segment]) => standalone(html`<${MatrixFigure} matrices=${drawn} tokens=${segment.tokens} queries=${queriesOf(segment).tokens} generated=${generatedIn(segment)} />`));
  saveImage(first, file, { title: `${matrices[0].title}; ${matrices[1].title}; \u201c${firstWords(ofA)}\u201d (${ofA.title})`, below, notes: ["Rows attend to columns.", ...notes.map((note) => note.replace("Underlined and in", "In"))] }, type);
}

function rowsOf({ sides: [a, b], empty, segments, same, norms, first }) {
  const value = norms ? "norm" : first.includes(true) ? "weight_without_first" : "weight";
  const list = (map, segment, side, none = []) => {
    const [{ tokens }, queries] = [segment, queriesOf(segment).tokens];
    return Array.from(map, (weight, index) => {
      const [query, key] = [Math.floor(index / tokens.length), index % tokens.length];
      return { side, query: query + 1, key: key + 1, query_token: queries[query], key_token: tokens[key], [value]: none.includes(query) ? null : Number(weight.toPrecision(6)) };
    });
  };
  const rows = [...list(a, segments[0], "A", empty[0]), ...list(b, segments[1], "B", empty[1])];
  return same ? [...rows, ...list(difference(b, a), segments[0], "B - A", empty.flat())] : rows;
}
