/** What the colours of the small maps mean, and the maps as files. */

import { html } from "../vendor/standalone.module.js";
import { stateTitle } from "../lib/choice.js";
import { headName, layersOf } from "../lib/measures.js";
import { pixelsOf } from "../lib/modelmaps.js";
import { headColumns } from "../lib/rows.js";
import { saveImage } from "../lib/save.js";
import { ramp } from "../lib/scales.js";
import { firstWords } from "../lib/texts.js";
import { standalone } from "./figures.js";
import { SaveCsv, SavePicture } from "./saves.js";

const TICKS = [0, 0.04, 0.25, 0.5, 1];
const SCALE = "Colour is the square root of the weight, on one scale from 0 to 1 for all maps.";

/** What attends to what in each map. */
function axesText(words, first) {
  const without = [words && "without special tokens", first && "columns without the first token, the rest of each row scaled to sum to 1"].filter(Boolean);
  return `Rows attend to columns; ${["both are in the order of the text", ...without].join(", ")}.`;
}

function poolText(blocks) {
  const steps = [...new Set(blocks.map(({ step }) => step))].filter((step) => step > 1);
  return steps.length > 0 ? `A point is the largest of ${steps.map((step) => `${step} × ${step}`).join(" or ")} weights.` : "";
}

/** @param {{blocks: object[], words: boolean, first: boolean, dark: boolean}} props */
export function ModelMapsLegend({ blocks, words, first, dark }) {
  return html`<div class="maps-legend small">
    <span class="maps-scale">Weight
      <span class="maps-bar">
        <i style=${{ background: `linear-gradient(to right, ${ramp("sequential", dark).join(", ")})` }}></i>
        ${TICKS.map((weight) => html`<span style=${{ left: `${100 * Math.sqrt(weight)}%` }}>${weight}</span>`)}
      </span>
    </span>
    <span class="soft">${SCALE} ${axesText(words, first)} ${poolText(blocks)}</span>
  </div>`;
}

/** Buttons that save all maps as one picture, and for each head the token with the most attention. */
export function SaveModelMaps({ model, segment, state, blocks, heads, words, first, table }) {
  const file = [model.name, segment.id, state, "all-heads", first && "without-first"].filter(Boolean).join("_");
  const title = `All heads of ${model.title} on \u201c${firstWords(segment)}\u201d (${segment.title}), ${stateTitle(model, state)}`;
  const save = (type) => saveImage(standalone(html`<${Figure} ...${{ model, heads, table }} />`), file, { title, notes: [SCALE, axesText(words, first), poolText(blocks)].filter(Boolean) }, type);
  return html`<span class="saves">
    <${SavePicture} save=${save} disabled=${!heads} />
    <${SaveCsv} disabled=${!heads} title="The most attended token of each head" rows=${() => rowsOf(model, segment, state, heads, [words ? "words" : "all", first && "without-first"].filter(Boolean).join("-"))} name=${file} />
  </span>`;
}

/** The maps as small images in one picture, in light colours. */
function Figure({ model, heads, table }) {
  const [cell, left, gap] = [60, 60, 4];
  const rows = layersOf(model).length;
  const top = (index) => (rows - 1 - Math.floor(index / model.n_heads)) * (cell + gap);
  const [width, height] = [left + model.n_heads * (cell + gap), rows * (cell + gap) + 14];
  return html`<svg xmlns="http://www.w3.org/2000/svg" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} font-size="9" fill="#000000">
    ${heads.map(({ index, small }) => html`<g transform=${`translate(${left + (index % model.n_heads) * (cell + gap)} ${top(index)})`}>
      <title>${headName(model, index)}</title>
      ${small.values.length > 0 && html`<image width=${cell} height=${cell} preserveAspectRatio="none" image-rendering="pixelated" href=${imageOf(small, table)} />`}
      <rect width=${cell} height=${cell} fill="none" stroke="#999999" stroke-width="0.5" />
    </g>`)}
    ${layersOf(model).map(({ name }, row) => html`<text x=${left - 5} y=${top(row * model.n_heads) + cell / 2 + 3} text-anchor="end">${name}</text>`)}
    ${Array.from({ length: model.n_heads }, (_, head) => html`<text x=${left + head * (cell + gap) + cell / 2} y=${height - 3} text-anchor="middle">${head + 1}</text>`)}
  </svg>`;
}

function imageOf(small, table) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [small.width, small.height];
  canvas.getContext("2d").putImageData(new ImageData(pixelsOf(small, table), small.width, small.height), 0, 0);
  return canvas.toDataURL("image/png");
}

function rowsOf(model, segment, state, heads, tokens) {
  return heads.map(({ index, most, block }) => ({
    model: model.name,
    state,
    segment: segment.id,
    tokens,
    ...headColumns(model, index),
    most_attended: most && most.key + 1,
    token: most && block.keys.tokens[most.key],
    mean_weight: most && Number(most.mean.toPrecision(6)),
  }));
}
