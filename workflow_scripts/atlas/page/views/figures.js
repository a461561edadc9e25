/** Pictures for print: SVG that stands alone, with presentation attributes and no style sheet. */

import { html, render } from "../vendor/standalone.module.js";
import { lines, path, runs } from "../lib/drawing.js";
import { textWidth, wrapped } from "../lib/save.js";
import { hex } from "../lib/scales.js";
import { shortened } from "../lib/tokens.js";

const FONT = "DejaVu Sans, Helvetica, Arial, sans-serif";
const INK = "#000000";
const LETTERS = 18;
const NARROWEST = 200; // of a column with a title, in pixels
const BAR = 40; // steps of a colour bar

/**
 * An SVG element from a figure, apart from the page.
 * @param {object} figure  as html`<${LinesFigure} .../>` makes it
 * @returns {SVGElement}
 */
export function standalone(figure) {
  const holder = document.createElement("div");
  render(figure, holder);
  return holder.firstElementChild;
}

/** Lines between two columns of tokens; its properties are the line view's. */
export function LinesFigure({ label, map, colour, tokens, queries, faintest, hidden, hiddenQueries, generated }) {
  const [row, left, right, head] = [12, 120, 280, 18];
  const height = head + Math.max(queries.length, tokens.length) * row + 4;
  const words = (texts, dim, x, anchor) =>
    texts.map(
      (token, index) => html`<text x=${x} y=${(index + 0.5) * row} dy="0.35em" text-anchor=${anchor}
        opacity=${dim[index] ? 0.35 : 1} font-style=${generated[index] ? "italic" : null}>${shortened(token, LETTERS)}</text>`,
    );
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="400" height=${height} viewBox=${`0 0 400 ${height}`}
    font-family=${FONT} font-size="8" fill=${INK}>
    <text x="200" y="9" text-anchor="middle" font-size="9" fill=${colour}>${label}</text>
    <g transform=${`translate(0 ${head})`}>
      ${words(queries, hiddenQueries, left - 5, "end")} ${words(tokens, hidden, right + 5, "start")}
      <g stroke=${colour} stroke-width="1" fill="none">
        ${lines(map, { faintest, hidden, hiddenQueries, keys: tokens.length }).map(
          ({ opacity, pairs }) => html`<path d=${path(pairs, { left, right, row })} stroke-opacity=${opacity.toFixed(3)} />`,
        )}
      </g>
    </g>
  </svg>`;
}

/**
 * Matrices side by side, each with its colour bar.
 * @param {{matrices: {title: string, map: Float32Array, colour: function, low: string, high: string,
 *   range: number[]}[], tokens: string[], queries?: string[], generated?: boolean[]}} props
 *   tokens that were generated are in italics;
 *   colour(weight) is [red, green, blue]; range: weights at the ends of the bar, low and high: in words
 */
export function MatrixFigure({ matrices, tokens, queries = tokens, generated = [] }) {
  const row = Math.max(tokens.length, queries.length) > 64 ? 6 : 9;
  const labels = 90;
  const step = Math.max(tokens.length * row + labels, NARROWEST) + 30;
  const titles = matrices.map(({ title }) => wrapped(title, step - 30, (words) => textWidth(words, 9)));
  const over = 14 + 11 * (Math.max(...titles.map((lines) => lines.length)) - 1);
  const [width, height] = [matrices.length * step - 20, queries.length * row + labels + over + 26];
  return html`<svg xmlns="http://www.w3.org/2000/svg" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`}
    font-family=${FONT} font-size=${row - 1.5} fill=${INK}>
    ${matrices.map(
      (matrix, index) => html`<g transform=${`translate(${index * step + labels} ${labels + over})`}>
        ${titles[index].map((line, place) => html`<text x=${-labels} y=${11 * place - labels - over + 10} font-size="9">${line}</text>`)}
        <${Sheet} ...${{ ...matrix, tokens, queries, generated, row }} />
      </g>`,
    )}
  </svg>`;
}

function Sheet({ map, colour, low, high, range, tokens, queries, generated, row }) {
  const n = tokens.length;
  const [side, tall] = [n * row, queries.length * row];
  const middle = (index) => (index + 0.5) * row;
  const background = hex(colour(0));
  const rows = queries.map((_, query) => Array.from(map.subarray(query * n, query * n + n), (weight) => hex(colour(weight))));
  const width = Math.max(NARROWEST - 90, Math.min(side, 160));
  return html`<g fill=${INK}>
      ${queries.map((token, index) => html`<text x="-3" y=${middle(index)} dy="0.35em" text-anchor="end" font-style=${generated[index] ? "italic" : null}>${shortened(token, LETTERS)}</text>`)}
      ${tokens.map(
        (token, index) => html`<text transform=${`translate(${middle(index)} -3) rotate(-90)`} dy="0.35em" font-style=${generated[index] ? "italic" : null}>${shortened(token, LETTERS)}</text>`,
      )}
    </g>
    <g shape-rendering="crispEdges">
      <rect width=${side} height=${tall} fill=${background} />
      ${rows.map((colours, query) =>
        runs(colours, background).map(
          ({ start, length, colour: run }) => html`<rect x=${start * row} y=${query * row} width=${length * row} height=${row} fill=${run} />`,
        ),
      )}
    </g>
    <rect width=${side} height=${tall} fill="none" stroke=${INK} stroke-width="0.5" />
    <g transform=${`translate(0 ${tall + 8})`}><${Bar} colour=${(weight) => hex(colour(weight))} ...${{ range, low, high, width }} /></g>`;
}

/** A colour bar with its ends in words under it. */
export function Bar({ colour, range: [from, to], low, high, width }) {
  const weights = Array.from({ length: BAR }, (_, index) => from + ((to - from) * index) / (BAR - 1));
  return html`<g font-size="7">
    ${weights.map((weight, index) => html`<rect x=${(index * width) / BAR} width=${width / BAR + 0.3} height="6" fill=${colour(weight)} />`)}
    <text y="15">${low}</text>
    <text x=${width} y="15" text-anchor="end">${high}</text>
  </g>`;
}
