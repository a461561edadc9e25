/** A small grid of heads, layer 1 at the bottom, that marks some of them. */

import { html } from "../vendor/standalone.module.js";
import { headName, layersOf, typesOf } from "../lib/measures.js";

export const GRID_LEFT = 22; // pixels next to the cells, for the layers
const [BOTTOM, GAP, TYPES] = [16, 1.5, 44];

function cellOf({ n_layers: layers, n_heads: heads }) {
  return heads > 12 || layers > 16 ? 18 : 26;
}

// Names of layers have their type, where there are several.
function leftOf(model) {
  return GRID_LEFT + (typesOf(model).length > 0 ? TYPES : 0);
}

/** Width and height of a model's grid in pixels. */
export function gridSize(model) {
  return [leftOf(model) + model.n_heads * cellOf(model), model.n_layers * cellOf(model) + BOTTOM];
}

/**
 * @param {{model: object, values: (number|null)[], colour: function, light: function, marked: number[],
 *   text: function, label: string, onChoose: function}} props
 *   colour and light (as saved) give a value's colour; text(i): its title
 */
export function MiniGrid({ model, values, colour, light, marked, text, label, onChoose }) {
  const { n_layers: layers, n_heads: heads } = model;
  const cell = cellOf(model);
  const [width, height] = gridSize(model);
  const left = leftOf(model);
  const at = (index) => [left + (index % heads) * cell, (layers - 1 - Math.floor(index / heads)) * cell];
  const side = cell - GAP;
  return html`<svg class="picture mini-grid" role="img" aria-label=${label} width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} font-size="10">
    ${values.map((value, index) => {
      const [x, y] = at(index);
      return html`<g key=${index} transform=${`translate(${x} ${y})`} data-head=${headName(model, index)} onClick=${() => onChoose?.(index)}>
        <title>${text(index)}</title>
        <rect width=${side} height=${side} fill=${colour(value) ?? "var(--missing)"} data-light-fill=${light(value) ?? "#eceae5"} />
        ${marked.includes(index) && html`<rect x="-0.75" y="-0.75" width=${cell} height=${cell} fill="none" stroke="var(--focus)" data-light-stroke="#b34700" stroke-width="2.5" />`}
      </g>`;
    })}
    ${layersOf(model).map(({ name }, row) => html`<text class="soft" x=${left - 5} y=${at(row * heads)[1] + side / 2} dy="0.35em" text-anchor="end">${name}</text>`)}
    ${typesOf(model).map(({ first }) => first > 0 && html`<path d=${`M0 ${at(first * heads)[1] + cell - GAP / 2}H${width}`} stroke="#808080" stroke-width="0.75" />`)}
    ${Array.from({ length: heads }, (_, head) => html`<text class="soft" x=${at(head)[0] + side / 2} y=${height - 3} text-anchor="middle">${head + 1}</text>`)}
  </svg>`;
}
