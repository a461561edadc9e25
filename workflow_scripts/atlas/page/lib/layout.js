/** Where the parts of the grid stand, in pixels. */

import { typesOf } from "./measures.js";

const [WIDEST, HIGHEST] = [96, 62]; // width and height of a cell
const TALLEST = 640; // of all cells
const TYPES = 12; // next to the numbers of the layers
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] };

/**
 * @param {number} width  of the whole picture
 * @param {{n_layers: number, n_heads: number}} model
 * @returns {object}  left, top: of the first cell; cell: [width, height]; right: where the cells end;
 *   width, height: of all
 */
export function layout(width, model) {
  const { n_layers: layers, n_heads: heads } = model;
  const narrow = width < 480;
  const left = (narrow ? 24 : 40) + (typesOf(model).length > 0 ? TYPES : 0);
  const margin = 64; // of means such as −0.0085
  const across = Math.max(8, Math.min(WIDEST, Math.floor((width - left - margin) / heads)));
  const down = Math.max(14, Math.min(across, HIGHEST, Math.floor(TALLEST / layers)));
  const top = 22;
  const right = left + across * heads;
  const bottom = top + down * layers;
  return { left, top, right, bottom, cell: [across, down], width: right + margin, height: bottom + 38 };
}

/** The upper left corner of a head's cell. */
export function corner(index, { n_heads: heads }, { left, bottom, cell }) {
  return [left + (index % heads) * cell[0], bottom - (Math.floor(index / heads) + 1) * cell[1]];
}

/** The head that an arrow, Home or End leads to from a head, layer 1 at the bottom; null for another key. */
export function moved(key, index, { n_layers: layers, n_heads: heads }) {
  const [row, column] = [Math.floor(index / heads), index % heads];
  if (key === "Home" || key === "End") return row * heads + (key === "Home" ? 0 : heads - 1);
  if (!STEPS[key]) return null;
  const [up, right] = STEPS[key];
  const inside = (place, n) => Math.min(n - 1, Math.max(0, place));
  return inside(row + up, layers) * heads + inside(column + right, heads);
}
