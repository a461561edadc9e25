/** What the colours of the small maps mean, and the maps as files. */

import { html } from "../vendor/standalone.module.js";
import { stateTitle } from "../lib/choice.js";
import { palette } from "../lib/drawing.js";
import { claim, denial, headName, layersOf } from "../lib/measures.js";
import { pixelsOf, tableOf } from "../lib/modelmaps.js";
import { saveImage } from "../lib/save.js";
import { hex, ofWeights } from "../lib/scales.js";
import { firstWords } from "../lib/texts.js";
import { Bar, standalone } from "./figures.js";
import { SavePicture } from "./saves.js";

const WEIGHTS = palette(ofWeights(false), [0, 1]);
const TICKS = [0, 0.04, 0.25, 0.5, 1];
const SCALE = "Colour is the square root of the weight, on one scale from 0 to 1 for all maps.";

/** What attends to what in each map. */
function axesText(words, first) {
  const without = [words && "without special tokens", first && "columns without the first token"].filter(Boolean);
  return `Rows attend to columns; ${["both are in the order of the text", ...without].join(", ")}.`;
}

function poolText(blocks) {
  const steps = [...new Set(blocks.map(({ step }) => step))].filter((step) => step > 1);
  return steps.length > 0 ? `A point is the largest of ${steps.map((step) => `${step} × ${step}`).join(" or ")} weights.` : "";
}

/** @param {{blocks: object[], words: boolean, first: boolean, dark: boolean}} props */
export function ModelMapsLegend({ blocks, words, first, dark }) {
  return html`<div class="row small">
    <span class="maps-scale">Weight
      <span class="maps-bar">
        <i style=${{ background: `linear-gradient(to right, ${ofWeights(dark).join(", ")})` }}></i>
        ${TICKS.map((weight) => html`<span style=${{ left: `${100 * Math.sqrt(weight)}%` }}>${weight}</span>`)}
      </span>
    </span>
    <span class="soft">${SCALE} ${axesText(words, first)} ${poolText(blocks)}</span>
  </div>`;
}

/** Buttons that save all maps as one picture; frames and kinds: functions that give them in light colours. */
export function SaveModelMaps({ model, segment, state, blocks, heads, words, first, measure, frames, kinds }) {
  const file = [model.name, segment.id, state, "all-heads", first && "without-first"].filter(Boolean).join("_");
  const title = `All heads of ${model.title} on \u201c${firstWords(segment)}\u201d (${segment.title}), ${stateTitle(model, state)}`;
  const save = (type) => saveImage(standalone(html`<${Figure} ...${{ model, heads, frames: frames(), kinds: kinds() }} />`), file, { title, notes: [SCALE, axesText(words, first), poolText(blocks), measure && `Borders: ${measure.title}${claim(measure) ? `; dotted: ${denial(measure)}` : ""}.`].filter(Boolean), below: [document.querySelector("#legend svg.picture")] }, type);
  return html`<span class="saves">
    <${SavePicture} save=${save} disabled=${!heads} />
  </span>`;
}

/** The maps as small images in one picture, in light colours, with the scale of the weights and the kinds. */
function Figure({ model, heads, frames, kinds }) {
  const [cell, left, gap] = [60, 60, 6];
  const rows = layersOf(model).length;
  const top = (index) => 2 + (rows - 1 - Math.floor(index / model.n_heads)) * (cell + gap);
  const end = rows * (cell + gap) + 16;
  const [width, height] = [left + model.n_heads * (cell + gap), end + Math.max(34, 14 * kinds.length)];
  return html`<svg xmlns="http://www.w3.org/2000/svg" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} font-size="9" fill="#000000">
    ${heads.map(({ index, small }) => html`<g transform=${`translate(${left + (index % model.n_heads) * (cell + gap)} ${top(index)})`}>
      <title>${headName(model, index)}</title>
      ${small.values.length > 0 && html`<image width=${cell} height=${cell} preserveAspectRatio="none" image-rendering="pixelated" href=${imageOf(small)} />`}
      <rect x="-1" y="-1" width=${cell + 2} height=${cell + 2} fill="none" stroke=${frames.get(index)?.colour ?? "#999999"} stroke-width=${frames.get(index)?.colour ? 2.5 : 0.5} stroke-dasharray=${frames.get(index)?.open ? "2 2" : null} />
    </g>`)}
    ${layersOf(model).map(({ name }, row) => html`<text x=${left - 5} y=${top(row * model.n_heads) + cell / 2 + 3} text-anchor="end">${name}</text>`)}
    ${Array.from({ length: model.n_heads }, (_, head) => html`<text x=${left + head * (cell + gap) + cell / 2} y=${end - 6} text-anchor="middle">${head + 1}</text>`)}
    <g transform=${`translate(${left} ${end})`}><${Bar} colour=${(weight) => hex(WEIGHTS(Math.sqrt(weight)))} range=${[0, 1]} low="weight 0" high="1" width=${160} />
      ${kinds.map(({ title, colour }, place) => html`<g transform=${`translate(220 ${14 * place})`}><rect x="1" y="1" width="8" height="8" fill="none" stroke=${colour} stroke-width="2.5" /><text x="16" y="8">${title}</text></g>`)}</g>
  </svg>`;
}

function imageOf(small) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [small.width, small.height];
  canvas.getContext("2d").putImageData(new ImageData(pixelsOf(small, tableOf(WEIGHTS)), small.width, small.height), 0, 0);
  return canvas.toDataURL("image/png");
}
