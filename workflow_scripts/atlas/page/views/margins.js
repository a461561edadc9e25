/** What stands around the grid: numbers of layers and heads, means of each layer. */

import { html } from "../vendor/standalone.module.js";
import { number } from "../lib/format.js";
import { layerMeans, layersOf, typesOf } from "../lib/measures.js";

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
  const middle = (layer) => place.bottom - (layer + 0.5) * place.cell[1];
  return html`
    <g aria-hidden="true">
      <text class="axis" x=${place.right + 10} y=${place.top - 8}>Mean</text>
      ${layerMeans(measure, model).map((one, layer) => html`<text class="tick" x=${place.right + 10} y=${middle(layer) + 4}>${number(one, measure.decimals)}</text>`)}
    </g>
  `;
}
