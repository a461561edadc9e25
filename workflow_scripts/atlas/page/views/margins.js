/** What stands around the grid: numbers of layers and heads, means of each layer. */

import { html } from "../vendor/standalone.module.js";
import { number } from "../lib/format.js";
import { layersOf, typesOf } from "../lib/measures.js";
import { domain } from "../lib/scales.js";
import { layerMeans } from "../lib/statistics.js";

/** Numbers of the layers at the left, by type of attention where there are several, and of the heads below. */
export function Axes({ model, place }) {
  const { left, bottom, right, cell } = place;
  const every = cell[0] < 17 ? 2 : 1;
  const columns = Array.from({ length: model.n_heads }, (_, column) => column + 1);
  const middle = (row) => bottom - (row + 0.5) * cell[1];
  return html`
    <g class="axes" aria-hidden="true">
      ${layersOf(model).map(({ layer }, row) => html`<text class="tick end" x=${left - 7} y=${middle(row) + 4}>${layer}</text>`)}
      ${typesOf(model).map(({ title, first, last }) => html`
        <text class="axis middle" transform=${`translate(9,${(middle(first) + middle(last)) / 2}) rotate(-90)`}>${title}</text>
        ${first > 0 && html`<path class="between" d=${`M0 ${bottom - first * cell[1] - 0.5}H${right}`} />`}
      `)}
      ${columns
        .filter((column) => (column - 1) % every === 0)
        .map((column) => html`<text class="tick middle" x=${left + (column - 0.5) * cell[0]} y=${bottom + 15}>${column}</text>`)}
      <text class="axis middle" x=${(left + right) / 2} y=${place.height - 7}>Head</text>
      <text class="axis" x="0" y=${place.top - 8}>Layer</text>
    </g>
  `;
}

/** At the right, the mean of each layer; categories have none. */
export function LayerMeans({ measure, model, place }) {
  if (measure.scale === "category") return null;
  const x = place.right + 12;
  const width = place.margin - 60;
  const bar = Math.min(place.cell[1] - 6, 12);
  const middle = (layer) => place.bottom - (layer + 0.5) * place.cell[1];
  const scale = toBar(measure, width);
  return html`
    <g class="means" aria-hidden="true">
      <text class="axis" x=${x} y=${place.top - 8}>${place.margin > 100 ? "Mean of the layer" : "Mean"}</text>
      ${layerMeans(measure, model).map((one, layer) => {
        if (one === null) return html`<text class="tick" x=${x} y=${middle(layer) + 4}>–</text>`;
        const [from, to] = scale(one);
        return html`
          <rect class="bar" x=${x + from} y=${middle(layer) - bar / 2} width=${Math.max(1, to - from)} height=${bar} />
          <text class="tick" x=${x + width + 5} y=${middle(layer) + 4}>${number(one, measure.decimals)}</text>
        `;
      })}
      <path class="zero" d=${`M${x + scale(centre(measure))[0] + 0.5} ${place.top}V${place.bottom}`} />
    </g>
  `;
}

function centre(measure) {
  const range = domain(measure) ?? [0, 1];
  return measure.scale === "diverging" ? (range[0] + range[1]) / 2 : range[0];
}

// From a mean to the ends of its bar, which begins at the range's start or, diverging, its centre.
function toBar(measure, length) {
  const [low, high] = domain(measure) ?? [0, 1];
  const start = (centre(measure) - low) / (high - low);
  return (one) => {
    const end = Math.min(1, Math.max(0, (one - low) / (high - low)));
    return [Math.min(start, end) * length, Math.max(start, end) * length];
  };
}
