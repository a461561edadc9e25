/** The buttons that save a picture, and numbers of heads as CSV. */

import { html } from "../vendor/standalone.module.js";
import { saveCsv } from "../lib/save.js";

/** @param {{save: (type: "svg"|"png") => void, disabled?: boolean}} props */
export function SavePicture({ save, disabled = false }) {
  return ["svg", "png"].map((type) => html`<button type="button" class=${`save-${type}`} title="Save the picture, ready for a paper" disabled=${disabled} onClick=${() => save(type)}>${type.toUpperCase()}</button>`);
}

/** @param {{rows: () => object[], name: string, disabled?: boolean}} props */
export function SaveCsv({ rows, name, disabled = false }) {
  return html`<button type="button" class="save-csv" title="Save the numbers. Layers and heads count from 1; in layer_from_0 and head_from_0 from 0." disabled=${disabled} onClick=${() => saveCsv(rows(), name)}>CSV</button>`;
}
