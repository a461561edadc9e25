/** Where the parts of the grid stand, in pixels. */

import { typesOf } from "./measures.js";
import { groupsOf } from "./roles.js";

const [WIDEST, HIGHEST] = [96, 62]; // width and height of a cell
const TALLEST = 640; // of all cells
const TYPES = 12; // next to the numbers of the layers
const BRACKETS = 20; // under the numbers of the heads

/**
 * @param {number} width  of the whole picture
 * @param {{n_layers: number, n_heads: number}} model
 * @param {boolean} tops  whether the means of the heads stand over the grid
 * @param {boolean} means  whether the means of the layers stand at the right
 * @returns {object}  left, top: of the first cell; cell: [width, height]; right: where the cells end;
 *   margin: width of the layers' means; width, height: of all
 */
export function layout(width, model, tops, means = true) {
  const { n_layers: layers, n_heads: heads } = model;
  const narrow = width < 480;
  const left = (narrow ? 24 : 40) + (typesOf(model).length > 0 ? TYPES : 0);
  const margin = means ? (narrow ? 64 : 112) : 2;
  const across = Math.max(8, Math.min(WIDEST, Math.floor((width - left - margin) / heads)));
  const down = Math.max(14, Math.min(across, HIGHEST, Math.floor(TALLEST / layers)));
  const top = tops ? 64 : 22;
  const right = left + across * heads;
  const bottom = top + down * layers;
  const below = 38 + (groupsOf(model).length > 0 ? BRACKETS : 0);
  return { left, top, right, bottom, margin, cell: [across, down], width: right + margin, height: bottom + below };
}

/** The cell at a place of the picture, [row from the bottom, column]; outside it is the nearest one. */
export function slotAt(place, { left, bottom, cell }, { n_layers: layers, n_heads: heads }) {
  const row = Math.floor((bottom - place.y) / cell[1]);
  const column = Math.floor((place.x - left) / cell[0]);
  return [Math.min(layers - 1, Math.max(0, row)), Math.min(heads - 1, Math.max(0, column))];
}

/** The upper left corner of a cell. */
export function corner([row, column], { left, bottom, cell }) {
  return [left + column * cell[0], bottom - (row + 1) * cell[1]];
}

/** The heads in the rectangle between two cells; `order` is [row][column]. */
export function between([row, column], [otherRow, otherColumn], order) {
  const [low, high] = [Math.min(row, otherRow), Math.max(row, otherRow)];
  const [start, end] = [Math.min(column, otherColumn), Math.max(column, otherColumn)];
  return order.slice(low, high + 1).flatMap((heads) => heads.slice(start, end + 1));
}

/** Row and column of a head in `order`. */
export function slotOf(index, order) {
  const row = order.findIndex((heads) => heads.includes(index));
  return row < 0 ? null : [row, order[row].indexOf(index)];
}

/** From a head to the middle of its cell, within a picture of some width; null where it is not drawn. */
export function spots(order, place, width) {
  return (index) => {
    const slot = slotOf(index, order);
    if (!slot) return null;
    const [x, y] = corner(slot, place);
    return { x: x + place.cell[0] / 2, y: y + place.cell[1] / 2, width };
  };
}
