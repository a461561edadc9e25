/** Attention of a head as lines between two columns of tokens. */

import { html, useMemo, useRef, useState } from "../vendor/standalone.module.js";
import { lines, path, strongest } from "../lib/drawing.js";
import { shown } from "../lib/tokens.js";

const WIDTH = 300; // of the drawing between the columns, in its own units
const SHADE = 0.45; // of the strongest shading, so that the token on it stays legible

/**
 * The line view. A token's lines are shown while it is pointed at or has the focus; a click pins it.
 * @param {{map: Float32Array, colour: string, tokens: string[], queries: string[], faintest: number,
 *   hidden: boolean[], hiddenQueries: boolean[], generated: boolean[], write: function}} props
 *   tokens: those attended to; queries: those that attend, the same list where they are the same; hidden:
 *   tokens that are dimmed; write(weight): as people read it
 */
export function Lines({ map, colour, tokens, queries, faintest, hidden, hiddenQueries, generated, write }) {
  const [pointed, setPointed] = useState(null);
  const [pinned, setPinned] = useState(null);
  const focus = pointed ?? pinned;
  const n = Math.max(queries.length, tokens.length);
  const row = rowHeight(n);
  const sides = { query: queries, key: tokens };
  const pin = (end) => setPinned(same(end, pinned) ? null : end);
  const column = (side) => html`<${Column}
    ...${{ side, tokens: sides[side], map, colour, keys: tokens.length, focus, pinned, generated, row, onPoint: setPointed, onPin: pin }}
    hidden=${side === "query" ? hiddenQueries : hidden}
  />`;
  return html`<div class="lines-view" style=${{ "--tall": n * row }}>
    <div style=${{ "--row": `${row}px` }} onMouseLeave=${() => setPointed(null)}>
      <div class="lines-head" aria-hidden="true"><span>from (query)</span><span>to (key)</span></div>
      <div class="lines-body">
        ${column("query")}
        <${Links} ...${{ map, colour, n, keys: tokens.length, row, faintest, hidden, hiddenQueries, focus }} />
        ${column("key")}
      </div>
    </div>
    <${Readout} ...${{ map, colour, sides, focus, write }} />
  </div>`;
}

/** Height of a token's row in pixels: long texts stand closer. */
function rowHeight(n) {
  return n <= 40 ? 24 : n <= 80 ? 19 : 16;
}

function same(a, b) {
  return a !== null && b !== null && a.side === b.side && a.token === b.token;
}

function Links({ map, colour, n, keys, row, faintest, hidden, hiddenQueries, focus }) {
  const draw = (only) => {
    const levels = lines(map, { faintest: only ? Math.min(faintest, 1e-3) : faintest, only, hidden, hiddenQueries, keys });
    return levels.map(({ opacity, pairs }) => html`<path d=${path(pairs, { left: 0, right: WIDTH, row })} stroke-opacity=${opacity} />`);
  };
  const all = useMemo(() => draw(), [map, row, faintest, hidden, hiddenQueries]);
  return html`<svg
    class=${focus ? "links focused" : "links"}
    viewBox=${`0 0 ${WIDTH} ${n * row}`}
    preserveAspectRatio="none"
    height=${n * row}
    stroke=${colour}
    aria-hidden="true"
  >
    <g class="all">${all}</g>
    ${focus && html`<g class="chosen">${draw({ [focus.side]: focus.token })}</g>`}
  </svg>`;
}

function Column({ side, tokens, map, colour, keys, focus, pinned, hidden, generated, row, onPoint, onPin }) {
  const list = useRef(null);
  const [current, setCurrent] = useState(0);
  const last = Math.min(current, tokens.length - 1);
  const move = (event) => {
    const to = { ArrowUp: last - 1, ArrowDown: last + 1, Home: 0, End: tokens.length - 1 }[event.key];
    const across = { ArrowLeft: "query", ArrowRight: "key" }[event.key];
    if (to === undefined && across === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const column = across ? event.currentTarget.parentElement.querySelector(`.${across}`) : list.current;
    const buttons = column.querySelectorAll("button");
    buttons[Math.max(0, Math.min(buttons.length - 1, to ?? last))]?.focus();
  };
  const name = side === "query" ? "Tokens that attend" : "Tokens that are attended to";
  return html`<ol class=${`tokens ${side}`} ref=${list} aria-label=${name} onKeyDown=${move}>
    ${tokens.map((token, index) => {
      const end = { side, token: index };
      const classes = [hidden[index] && "dim", same(end, focus) && "focus", same(end, pinned) && "pinned", generated[index] && "generated"];
      return html`<li key=${index}>
        <button
          type="button"
          class=${classes.filter(Boolean).join(" ")}
          style=${{ background: shading(map, colour, focus, end, keys) }}
          tabindex=${index === last ? 0 : -1}
          aria-pressed=${same(end, pinned) ? "true" : "false"}
          aria-label=${`${shown(token)}, token ${index + 1}${generated[index] ? ", generated" : ""}`}
          title=${row < 24 ? shown(token) : null}
          onMouseEnter=${() => onPoint(end)}
          onFocus=${() => {
            setCurrent(index);
            onPoint(end);
          }}
          onBlur=${() => onPoint(null)}
          onClick=${() => onPin(end)}
        >
          <bdi>${shown(token)}</bdi>
        </button>
      </li>`;
    })}
  </ol>`;
}

/** Behind a token, as strong as its link to the token in focus. */
function shading(map, colour, focus, end, keys) {
  if (!focus || focus.side === end.side) return null;
  const [query, key] = end.side === "key" ? [focus.token, end.token] : [end.token, focus.token];
  return `color-mix(in srgb, ${colour} ${Math.round(100 * SHADE * Math.sqrt(map[query * keys + key]))}%, transparent)`;
}

const LISTED = 6;

function Readout({ map, colour, sides, focus, write }) {
  if (!focus) {
    return html`<div class="readout empty" aria-live="polite">
      <p class="hint">Point at a token, or move to it with the arrow keys, to see where it attends and what attends to it. A click keeps it, another lets go.</p>
    </div>`;
  }
  const { side, token } = focus;
  // Of a target and a source, a token is on one side alone.
  const [asQuery, asKey] = sides.query === sides.key ? [true, true] : [side === "query", side === "key"];
  const shared = { map, token, keys: sides.key.length, write };
  return html`<div class="readout" aria-live="polite" style=${{ "--colour": colour }}>
    <h4><bdi>${shown(sides[side][token])}</bdi> <small>token ${token + 1} of ${sides[side].length}</small></h4>
    <div class="readout-sides">
      ${asQuery && html`<${Strongest} title="attends to" side="query" tokens=${sides.key} ...${shared} />`}
      ${asKey && html`<${Strongest} title="is attended to by" side="key" tokens=${sides.query} ...${shared} />`}
    </div>
  </div>`;
}

function Strongest({ title, side, map, tokens, token, keys, write }) {
  const found = strongest(map, token, side, LISTED, keys);
  return html`<div class="strongest">
    <h6>${title}</h6>
    <ol>
      ${found.map(
        ({ token: other, weight }) => html`<li key=${other}>
          <span class="bar" style=${{ width: `${100 * weight}%` }}></span>
          <bdi>${shown(tokens[other])}</bdi> <small>${other + 1}</small>
          <span class="number">${write(weight)}</span>
        </li>`,
      )}
    </ol>
  </div>`;
}
