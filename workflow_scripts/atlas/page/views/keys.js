/** The keys of the page, in a dialog. */

import { html, useEffect, useRef } from "../vendor/standalone.module.js";

const KEYS = [
  ["← ↑ → ↓", "move over the heads of a grid"],
  ["Home, End", "first, last head of the layer"],
  ["Enter", "open the head's card"],
  ["Shift with an arrow", "select heads; so does dragging over them"],
  ["Space", "select the head, or take it out of the selection; so does Shift with a click"],
  ["← → on a card", "previous, next head; in a column of tokens or a matrix, move within it"],
  ["Esc", "leave a card; in a grid, drop the selection"],
  ["?", "show these keys"],
];

/** @param {{close: function}} props */
export function Keys({ close }) {
  const dialog = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  return html`
    <dialog ref=${dialog} onClose=${close} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <${KeyList} />
      <form method="dialog"><button>Close</button></form>
    </dialog>
  `;
}

/** The list alone. */
export function KeyList() {
  return html`<dl class="keys">${KEYS.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>`;
}
