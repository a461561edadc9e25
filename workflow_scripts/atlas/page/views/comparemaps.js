/** The maps of two heads, or of one head in two states, and their difference. */

import { html, useMemo } from "../vendor/standalone.module.js";
import { sideText, stateTitle } from "../lib/choice.js";
import { palette } from "../lib/drawing.js";
import { difference, jensenShannon, largest } from "../lib/maps.js";
import { headName, placeOf } from "../lib/measures.js";
import { queriesOf } from "../lib/pairtexts.js";
import { saveImage } from "../lib/save.js";
import { ofWeights, ramp } from "../lib/scales.js";
import { firstWords, generatedIn, generatedNote } from "../lib/texts.js";
import { MatrixFigure, standalone } from "./figures.js";
import { ColourBar, DimChoice, hiddenIn, write } from "./headmaps.js";
import { useMaps } from "./stored.js";
import { SavePicture } from "./saves.js";
import { CellReadout, Matrix, useCursor } from "./matrix.js";
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
  const hide = state.dim === "yes";
  const { maps, error } = useMaps(atlas, [ofA?.maps[a.state] ?? null, ofB?.maps[b.state] ?? null]);
  const same = Boolean(ofA && ofB) && tokensOf(ofA) === tokensOf(ofB);
  const sides = useMemo(() => maps && [a, b].map(({ model, index }, side) => maps[side]?.head(...placeOf(model, index))), [maps, a.index, b.index, a.model, b.model]);
  const absent = [[a, ofA], [b, ofB]].filter(([side, segment]) => !segment?.maps[side.state]).map(([side]) => sideText(side));
  const complete = sides && absent.length === 0;
  const shared = { sides, segments: [ofA, ofB], same, names: [sideName(a, b), sideName(b, a)] };
  const notes = complete ? [...new Set([ofA, ofB].map(generatedNote).filter(Boolean))] : [];
  const file = `${sideText(a)}_${sideText(b)}_${ofA?.id}`.replaceAll("/", "-");
  return html`<section class="maps" aria-labelledby="compare-maps">
    <div class="section-head row">
      <h3 id="compare-maps">Maps</h3>
      <span class="saves"><${SavePicture} disabled=${!complete} save=${(type) => savePicture(shared, file, notes, type)} /></span>
    </div>
    <div class="choices row">
      ${ofA && html`<${TextChoice} ...${{ segments: suited.length > 0 ? suited : [ofA], segment: suited.find(({ id }) => id === ofA.id) ?? ofA, go }} named=${ofA.predictions?.[b.state] ? b.state : a.state} />
        <${DimChoice} ...${{ hide, go, model: a.model }} />`}
    </div>
    ${state.segment && ofA && ofA.id !== state.segment && html`<p class="soft">There are no maps of both sides on ${state.segment}; this is another text.</p>`}
    ${absent.length > 0 && html`<p class="soft">This file holds no maps of ${absent.join(" and of ")} on this text.</p>`}
    ${error && html`<p role="alert">${error}</p>`}
    ${notes.map((sentence) => html`<p class="note" key=${sentence}><bdi>${sentence}</bdi></p>`)}
    ${complete && html`<${Apart} ...${shared} /><${Three} ...${{ ...shared, hide, dark, model: a.model }} key=${ofA.id} />`}
    ${!maps && !error && html`<p class="soft loading">Reading the maps.</p>`}
  </section>`;
}

// As one text, which equals another's where all tokens are the same.
function tokensOf(segment) {
  return JSON.stringify([segment.tokens, queriesOf(segment).tokens]);
}

function Apart({ sides: [a, b], segments, same }) {
  if (!same) {
    const [left, right] = segments.map((segment) => `\u201c${firstWords(segment)}\u201d (${segment.title})`);
    return html`<p class="note"><bdi>${left === right ? "" : `A is ${left}, B ${right}. `}The two texts have different tokens: they stand side by side, and no difference is taken.</bdi></p>`;
  }
  return html`<dl class="apart row">
    <div><dt class="soft small">Jensen-Shannon divergence</dt><dd>${write(jensenShannon(a, b, segments[0].tokens.length))} <small class="soft small">nats, mean over the queries; 0 to ${write(Math.log(2))}</small></dd></div>
    <div><dt class="soft small">Largest difference</dt><dd>${write(largest(difference(a, b)))}</dd></div>
  </dl>`;
}

/** The matrices to draw: A and B on one scale, and B - A around zero. */
function matricesOf({ sides: [a, b], same, names }, dark) {
  const range = [0, largest(a, b) || 1];
  const points = ofWeights(dark);
  const own = { points, range, colour: palette(points, range), low: write(0), high: write(range[1]), what: "weight" };
  const found = [{ ...own, label: "A", title: `A: ${names[0]}`, map: a }, { ...own, label: "B", title: `B: ${names[1]}`, map: b }];
  if (!same) return found;
  const gap = difference(b, a);
  const reach = largest(gap) || 1;
  const both = ramp("diverging", dark);
  const ends = { range: [-reach, reach], low: `A more ${write(-reach)}`, high: `${write(reach)} B more` };
  return [...found, { ...ends, label: "B − A", title: "B − A", map: gap, points: both, colour: palette(both, ends.range), what: "" }];
}

function Three({ sides, segments, same, names, hide, dark, model }) {
  const cursors = [useCursor(), useCursor()]; // of other tokens, B has its own
  const matrices = useMemo(() => matricesOf({ sides, same, names }, dark), [...sides, same, dark, names.join()]);
  const hidden = useMemo(() => segments.map((segment) => hiddenIn([segment, queriesOf(segment)], hide, model)), [segments[0], segments[1], hide]);
  const which = (place) => (!same && place === 1 ? 1 : 0);
  const read = cursors[1].cell ? 1 : 0;
  return html`
    <${CellReadout} maps=${matrices.filter((_, place) => same || place === read)} tokens=${segments[read].tokens} queries=${queriesOf(segments[read]).tokens} cell=${cursors[read].cell} write=${write} />
    <div class="matrices row">
      ${matrices.map(({ label, title, map, colour, points, low, high, what }, place) => {
        const segment = segments[which(place)];
        const [keys, queries] = hidden[which(place)];
        return html`<figure key=${label}>
          <figcaption><bdi>${title}</bdi> <${ColourBar} ramp=${points} ...${{ low, high, what }} /></figcaption>
          <${Matrix} ...${{ map, colour, write, title }} cursor=${cursors[which(place)]} smallest=${SMALLEST} generated=${generatedIn(segment)}
            tokens=${segment.tokens} queries=${queriesOf(segment).tokens} hidden=${keys} hiddenQueries=${queries} />
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
