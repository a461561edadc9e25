/** Attention maps as matrices of queries by keys, with a cursor that several matrices share. */

import { html, useLayoutEffect, useMemo, useRef, useState } from "../vendor/standalone.module.js";
import { shown } from "../lib/tokens.js";
import { useWidth } from "./hooks.js";

const [LABELS, SHORT_LABELS] = [88, 64]; // pixels next to and above the cells; the second in narrow windows
const NARROW = 360;
const LEGIBLE = 9; // pixels of a cell from which every token is written
const LARGEST = 26;
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** The cell that matrices side by side point at, and the function that points. */
export function useCursor() {
  const [cell, point] = useState(null);
  return { cell, point };
}

/**
 * One matrix.
 * @param {{map: Float32Array, tokens: string[], queries?: string[], colour: function, hidden: boolean[],
 *   hiddenQueries?: boolean[], generated?: boolean[], cursor: object, title: string, write: function,
 *   smallest: number}} props
 *   tokens: those attended to; queries: those that attend, the same unless stated; hidden: tokens whose rows and
 *   columns are faint;
 *   colour(weight) is [red, green, blue]; cells fit the width, though not under `smallest`
 *   pixels; write(weight): as people read it
 */
export function Matrix({ map, tokens, queries = tokens, colour, hidden, hiddenQueries = hidden, generated = [], cursor, title, write, smallest = LEGIBLE }) {
  const [frame, width] = useWidth(640);
  const shape = [queries.length, tokens.length];
  const labels = width < NARROW ? SHORT_LABELS : LABELS;
  const fitting = Math.floor((width - labels - 2) / tokens.length);
  const pixels = Math.max(smallest, Math.min(LARGEST, fitting));
  const { cell } = cursor;
  const text = cell && `${shown(queries[cell.query])} to ${shown(tokens[cell.key])}: ${write(map[cell.query * tokens.length + cell.key])}`;
  return html`<div
    class="matrix"
    ref=${frame}
    role="application"
    aria-label=${`${title}: ${shape.join(" by ")} tokens, arrow keys move from cell to cell`}
    tabindex="0"
    style=${{ "--cell": `${pixels}px`, "--labels": `${labels}px`, "--rows": shape[0], "--columns": shape[1] }}
    onKeyDown=${(event) => moveCursor(event, cursor, shape)}
    onMouseLeave=${() => cursor.point(null)}
    onBlur=${() => cursor.point(null)}
  >
    <span class="only-screen-reader" aria-live="polite">${text}</span>
    <div class="matrix-sheet">
      <${Labels} kind="keys" chosen=${cell?.key} ...${{ tokens, pixels, hidden, generated }} />
      <${Labels} kind="queries" chosen=${cell?.query} tokens=${queries} pixels=${pixels} hidden=${hiddenQueries} generated=${generated} />
      <${Cells} ...${{ map, shape, colour, hidden, hiddenQueries, cursor }} />
    </div>
  </div>`;
}

function moveCursor(event, cursor, [rows, columns]) {
  const step = MOVES[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  const from = cursor.cell ?? { query: -step[0], key: -step[1] };
  const inside = (value, n) => Math.max(0, Math.min(n - 1, value));
  cursor.point({ query: inside(from.query + step[0], rows), key: inside(from.key + step[1], columns) });
}

function Labels({ kind, tokens, pixels, hidden, generated, chosen }) {
  return html`<div class=${`labels of-${kind}`} aria-hidden="true">
    ${tokens.map((token, index) => {
      const classes = [hidden[index] && "dim", index === chosen && "chosen", pixels < LEGIBLE && "small", generated[index] && "generated"];
      return html`<div key=${index} class=${classes.filter(Boolean).join(" ")} title=${shown(token)}>
        <bdi>${shown(token)}</bdi>
      </div>`;
    })}
  </div>`;
}

function Cells({ map, shape: [rows, columns], colour, hidden, hiddenQueries, cursor }) {
  const canvas = useRef(null);
  const pixels = useMemo(() => imageOf(map, [rows, columns], { colour, hidden, hiddenQueries }), [map, colour, hidden, hiddenQueries]);
  useLayoutEffect(() => canvas.current.getContext("2d").putImageData(pixels, 0, 0), [pixels]);
  const cellAt = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const index = (offset, length, n) => Math.max(0, Math.min(n - 1, Math.floor((offset / length) * n)));
    return { query: index(event.clientY - box.top, box.height, rows), key: index(event.clientX - box.left, box.width, columns) };
  };
  const { cell } = cursor;
  return html`<div class="cells" onPointerMove=${(event) => cursor.point(cellAt(event))} onClick=${(event) => cursor.point(cellAt(event))}>
    <canvas ref=${canvas} width=${columns} height=${rows} aria-hidden="true"></canvas>
    ${cell && html`<div class="row-mark" style=${{ "--at": cell.query }}></div>
      <div class="column-mark" style=${{ "--at": cell.key }}></div>`}
  </div>`;
}

/** One pixel per cell; the rows and columns of hidden tokens are faint. */
function imageOf(map, [rows, columns], { colour, hidden, hiddenQueries }) {
  const image = new ImageData(columns, rows);
  map.forEach((weight, index) => {
    const [red, green, blue] = colour(weight);
    const dim = hiddenQueries[Math.floor(index / columns)] || hidden[index % columns];
    image.data.set([red, green, blue, dim ? 40 : 255], 4 * index);
  });
  return image;
}

/** The weight under the cursor in each of several maps. */
export function CellReadout({ maps, tokens, queries = tokens, cell, write }) {
  if (!cell) return html`<p class="hint cell-readout">Point at a cell to read its weight.</p>`;
  const end = (texts, index) => html`<bdi>${shown(texts[index])}</bdi> <small>${index + 1}</small>`;
  return html`<p class="cell-readout">
    ${end(queries, cell.query)} → ${end(tokens, cell.key)}
    ${maps.map((each) => html` <span class="value"><small>${each.label}</small> ${write(each.map[cell.query * tokens.length + cell.key])}</span>`)}
  </p>`;
}
