/** All heads of a model on one text: a grid of small maps, each of which opens its head's card. */

import { html, useLayoutEffect, useMemo, useRef, useState } from "../vendor/standalone.module.js";
import { segmentOf, segmentsOf, stateOf } from "../lib/choice.js";
import { palette } from "../lib/drawing.js";
import { format } from "../lib/fragment.js";
import { number } from "../lib/format.js";
import { moved } from "../lib/layout.js";
import { withoutFirst } from "../lib/maps.js";
import { findMeasure, hatched, headIndex, headName, KIND, layersOf, measuresOf, modelOf, valueText } from "../lib/measures.js";
import { blocksOf, mostAttended, pixelsOf, placesOf, pooled, stepOf, tableOf } from "../lib/modelmaps.js";
import { kindsOf } from "../lib/opening.js";
import { aboutType } from "../lib/pairtexts.js";
import { colours, ofWeights } from "../lib/scales.js";
import { generatedIn, generatedNote, wordsOf } from "../lib/texts.js";
import { shown } from "../lib/tokens.js";
import { StateChoice } from "./headmaps.js";
import { useMaps } from "./stored.js";
import { useWidth } from "./hooks.js";
import { Legend } from "./legend.js";
import { ModelMapsLegend, SaveModelMaps } from "./modelmapslegend.js";
import { Findings, Kinds } from "./opening.js";
import { MeasurePicker } from "./picker.js";
import { TextChoice } from "./textchoice.js";

const [SMALLEST, LARGEST] = [52, 128]; // pixels of a map
const [LABELS, GAP] = [56, 9];
const FIRST_NOTE = "Without the first token: the other weights of each row are scaled to sum to 1; a row of which nothing is left, to the rounding of a byte, is blank.";

/** @param {{atlas: object, state: object, go: function, dark: boolean}} props */
export function ModelMaps({ atlas, state, go, dark }) {
  const model = modelOf(atlas, state);
  const segment = segmentOf(atlas, model, state.segment, state.state);
  const kinds = useMemo(() => kindsOf(atlas, model, dark), [atlas, model, dark]);
  return html`<section class="model-maps" aria-labelledby="model-maps-title">
    <h2 id="model-maps-title">All heads on one text</h2>
    <p class="maps-lead">Each square is a head of <bdi>${model.title}</bdi>: where it attends on the text below. Click on a head to see what it does.</p>
    <div class="side-by-side">
      <div class="main-picture">${segment ? html`<${OnText} key=${model.name} ...${{ atlas, model, segment, kinds, state, go, dark }} />` : html`<p>This file holds no maps of <bdi>${model.title}</bdi>.</p>`}</div>
      <aside aria-label="Findings">
        <${Findings} ...${{ atlas, model, state }} />
      </aside>
      <div class="beneath">
        ${atlas.study.file && html`<p class="note">Maps of your own text, made in the folder of the workflow: <code style="user-select: all">${model.types ? "make atlas MODEL=<translation model> TEXT=pairs.tsv" : `make sentence STUDY=${atlas.study.file} TEXT="Your sentence."`}</code></p>`}
        <p class="note">The study's texts are chosen by length and at random, not by their maps.</p>
      </div>
    </div>
  </section>`;
}

function OnText({ atlas, model, segment, kinds, state, go, dark }) {
  const [box, width] = useWidth(1000);
  const measures = measuresOf(atlas, model);
  const measure = findMeasure(atlas, model, state.measure);
  const frames = useMemo(() => framesOf(measure, kinds, dark), [kinds, measure, dark]);
  const light = () => (measure ? [] : kindsOf(atlas, model, false));
  const named = stateOf(segment, state.state);
  const words = !model.causal && state.special === "hidden";
  const first = Boolean(model.causal) && state.first === "hidden"; // where many heads of decoders rest
  const size = sizeOf(width - LABELS, model.n_heads);
  const blocks = useMemo(
    () => blocksOf(model, segment, named).map((block) => {
      const places = placesOf(block, { words, first });
      return { ...block, hidesFirst: first, places, step: stepOf(places, size) };
    }),
    [model, segment, named, words, size, first],
  );
  const { maps, error } = useMaps(atlas, blocks.map(({ id }) => id));
  const heads = useMemo(() => maps && blocks.map((block, place) => headsOf(model, block, maps[place])).flat(), [maps, blocks]);
  const table = tableOf(palettes[dark ? "dark" : "light"]);
  const address = format({ ...state, view: "head", head: null }); // without a text of its own, the card shows the one that fits
  const absent = state.segment && state.segment !== segment.id;
  return html`<div ref=${box}>
    <div class="choices row">
      ${measures.length > 0 && html`<${MeasurePicker} id="measure" label="Borders" none=${kinds.length > 0 ? "kinds of heads" : "none"} ...${{ atlas, measures }} value=${measure?.id ?? ""} choose=${(id, of = model.name) => go({ view: "maps", measure: id, ...(of !== model.name && { model: of }) })} />`}
      <${TextChoice} segments=${segmentsOf(atlas, model)} ...${{ segment, go, named }} state=${state.state} />
      <${StateChoice} ...${{ model, segment, state: named, go }} />
      ${model.causal
        ? html`<label class="check"><input type="checkbox" id="first" checked=${first} onChange=${(event) => go({ first: event.target.checked ? "hidden" : "" })} /> Without the first token</label>`
        : html`<label class="check"><input type="checkbox" id="special" checked=${words} onChange=${(event) => go({ special: event.target.checked ? "hidden" : "" })} /> Without special tokens</label>`}
      <${SaveModelMaps} ...${{ model, segment, state: named, blocks, heads, words, first, measure, kinds: light, frames: () => framesOf(measure, light(), false) }} />
    </div>
    ${[segment, segment.target].filter(Boolean).map((one) => html`<p class="small maps-text"><bdi><${Words} segment=${one} /></bdi></p>`)}
    ${generatedNote(segment) && html`<p class="note">${generatedNote(segment)}</p>`}
    ${first && html`<p class="note">${FIRST_NOTE}</p>`}
    ${absent && html`<p class="soft">There is no text ${state.segment} of <bdi>${model.title}</bdi> in this file.</p>`}
    <${ModelMapsLegend} ...${{ blocks, words, first, dark }} />
    ${measure && measure.id !== KIND
      ? html`<${Legend} ...${{ measure, dark, filters: [], framed: true }} choose=${measure.scale === "category" ? (value) => go({ view: "grid", filter: `${measure.id}:${value}` }) : undefined} /><p class="small"><a href=${format({ ...state, view: "grid" })}>Numbers of all heads</a></p>`
      : html`<${Kinds} ...${{ kinds, state }} />`}
    ${error && html`<p role="alert">${error}</p>`}
    ${heads && html`<${Grid} ...${{ model, heads, blocks, size, table, address, frames, measure, start: headIndex(model, state.head) }} wide=${LABELS + model.n_heads * (size + GAP) > width} />`}
    ${!heads && !error && html`<p class="soft loading">Reading the maps.</p>`}
  </div>`;
}

/** A border in the colour of each head's value, open where the data cannot tell; without a measure, of its kind. */
function framesOf(measure, kinds, dark) {
  if (!measure) return new Map(kinds.toReversed().flatMap(({ heads, colour }) => heads.map((index) => [index, { colour }])));
  const colour = colours(measure, dark);
  return new Map(measure.value.map((value, index) => [index, { colour: colour(value), open: hatched(measure, index) }]));
}

/** The words of a text; those that the model generated are marked. */
function Words({ segment }) {
  const generated = generatedIn(segment);
  const part = (marked) => wordsOf({ ...segment, word: segment.word.map((word, index) => (generated[index] === marked ? word : -1)) }).join(" ");
  return html`${part(false)} ${segment.generated > 0 && html`<mark class="generated">${part(true)}</mark>`}`;
}

/** Pixels of a map: as many as fit; where not all do, half a map at the edge shows that there are more. */
function sizeOf(width, heads) {
  const fitting = Math.floor(width / heads) - GAP;
  if (fitting >= SMALLEST) return Math.min(LARGEST, fitting);
  const seen = Math.floor(width / (SMALLEST + GAP) - 0.5) + 0.5;
  return Math.max(SMALLEST, Math.floor(width / seen) - GAP);
}

const palettes = { light: palette(ofWeights(false), [0, 1]), dark: palette(ofWeights(true), [0, 1]) };

/** The heads of a block with their maps as they are drawn; nothing where the file has no maps of it. */
function headsOf(model, block, maps) {
  if (!maps) return [];
  const { places, step, first, layers, keys } = block;
  return Array.from({ length: layers * model.n_heads }, (_, place) => {
    const whole = maps.head(Math.floor(place / model.n_heads), place % model.n_heads);
    const width = keys.tokens.length;
    const { map, empty } = block.hidesFirst ? withoutFirst(whole, width) : { map: whole, empty: [] };
    const index = first * model.n_heads + place;
    const left = { ...places, rows: places.rows.filter((row) => !empty.includes(row)) };
    return { index, block, map, small: pooled(map, width, places, step), most: mostAttended(map, width, left) };
  });
}

/** What is read of a head: the token with the most attention. */
function mostText({ most, block }) {
  if (!most) return "no token";
  return `${shown(block.keys.tokens[most.key])} (token ${most.key + 1}), ${number(100 * most.mean, 0)}% of the attention`;
}

function Grid({ model, heads, blocks, size, table, address, frames, measure, start, wide }) {
  const area = useRef(null);
  const [active, setActive] = useState(start);
  const [pointed, setPointed] = useState(null);
  const found = useMemo(() => new Map(heads.map((head) => [head.index, head])), [heads]);
  const stop = found.has(active) ? active : heads[0]?.index;
  // Who leaves a card by a key comes back to its map, which is there a moment after the heading.
  useLayoutEffect(() => {
    if (document.activeElement?.id === "model-maps-title") area.current.querySelector(`[data-index="${start}"]`)?.focus();
  }, []);
  const press = (event) => {
    const index = Number(event.target.dataset.index ?? -1);
    if (index < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moved(event.key, index, model);
    if (next === null) return;
    event.preventDefault();
    area.current.querySelector(`[data-index="${next}"]`)?.focus();
  };
  const point = (event) => {
    const link = event.target.closest("[data-index]");
    const head = found.get(Number(link?.dataset.index ?? -1));
    setPointed(head ? { head, cell: cellAt(event, link, head.block.places) } : null);
  };
  const rows = useMemo(() => {
    const link = (index) => html`<${HeadMap} key=${index} ...${{ head: found.get(index), name: headName(model, index), size, table, frame: frames.get(index) }} href=${`${address}&head=${headName(model, index)}`} current=${index === stop} />`;
    return layersOf(model).map(({ layer: number }, layer) => ({
      layer,
      row: html`<div role="row" class="maps-row">
        <span role="rowheader" class="maps-layer soft small">Layer ${number}</span>
        ${Array.from({ length: model.n_heads }, (_, head) => link(layer * model.n_heads + head))}
      </div>`,
    }));
  }, [found, size, table, stop, address, frames]);
  return html`
    <${Readout} ...${{ pointed, model, measure, wide }} />
    <div class="all-maps" style=${{ "--labels": `${LABELS}px`, "--gap-maps": `${GAP}px` }}>
      <div ref=${area} role="grid" aria-label="Maps of all heads; the top row is the last layer" class="maps-sheet"
        onKeyDown=${press} onPointerMove=${point} onPointerLeave=${() => setPointed(null)} onFocusOut=${() => setPointed(null)}
        onFocusIn=${(event) => {
          const index = Number(event.target.dataset.index ?? -1);
          if (!found.has(index)) return;
          setActive(index);
          if (event.target.matches(":focus-visible")) setPointed({ head: found.get(index), cell: null });
        }}>
        ${blocks.toReversed().map((block) => html`
          ${block.title && html`<div role="row" class="maps-type"><span role="rowheader"><b>${block.title}</b> <span class="soft small">${block.id ? aboutType(block.type) : "This file holds no maps of this type."}</span></span></div>`}
          ${block.id && rows.filter(({ layer }) => layer >= block.first && layer < block.first + block.layers).toReversed().map(({ row }) => row)}
        `)}
        <div role="row" class="maps-row soft small">
          <span role="columnheader" class="maps-layer">Head</span>
          ${Array.from({ length: model.n_heads }, (_, head) => html`<span role="columnheader" class="maps-head" style=${{ width: `${size}px` }}>${head + 1}</span>`)}
        </div>
      </div>
    </div>`;
}

function cellAt(event, link, { rows, columns }) {
  const box = link.getBoundingClientRect();
  const at = (offset, length, list) => list[Math.max(0, Math.min(list.length - 1, Math.floor((offset / length) * list.length)))];
  return { query: at(event.clientY - box.top, box.height, rows), key: at(event.clientX - box.left, box.width, columns) };
}

/** One head's map, a link to its card. */
function HeadMap({ head, name, size, table, frame, href, current }) {
  const canvas = useRef(null);
  const { small } = head;
  const height = Math.round(Math.max(size / 3, Math.min(1.5 * size, (size * small.height) / (small.width || 1))));
  useLayoutEffect(() => {
    if (small.values.length === 0) return;
    canvas.current.getContext("2d").putImageData(new ImageData(pixelsOf(small, table), small.width, small.height), 0, 0);
  }, [small, table]);
  return html`<span role="gridcell">
    <a class=${["head-map", frame?.colour && "framed", frame?.open && "open"].filter(Boolean).join(" ")} href=${href} data-index=${head.index} data-head=${name} tabindex=${current ? 0 : -1} style=${{ width: `${size}px`, height: `${height}px`, "--frame": frame?.colour }}
      aria-label=${`Head ${name}, most attention: ${mostText(head)}`}>
      <canvas ref=${canvas} width=${small.width} height=${small.height} aria-hidden="true"></canvas>
    </a>
  </span>`;
}

function Readout({ pointed, model, measure, wide }) {
  if (!pointed) return html`<p class="hint maps-readout">${wide && html`<b>Scroll the maps sideways to see all ${model.n_heads} heads of a layer.</b> `}Point at a map to read a weight; a click, or Enter, opens the head's card.</p>`;
  const { head, cell } = pointed;
  const { queries, keys } = head.block;
  return html`<p class="maps-readout" aria-hidden="true">
    <b>${headName(model, head.index)}</b>${measure && html` <bdi>${measure.title}: ${valueText(measure, head.index)}</bdi>;`}
    ${cell && html` <bdi>${shown(queries.tokens[cell.query])}</bdi> → <bdi>${shown(keys.tokens[cell.key])}</bdi> ${number(head.map[cell.query * keys.tokens.length + cell.key], 3)};`}
    <span class="soft"> most attention: <bdi>${mostText(head)}</bdi></span>
  </p>`;
}
