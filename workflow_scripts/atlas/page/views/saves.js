/** The buttons that save a picture, and numbers of heads as CSV. */

import { html } from "../vendor/standalone.module.js";
import { saveCsv } from "../lib/save.js";

const COUNTS = "Layers and heads count from 1; in layer_from_0 and head_from_0 from 0.";

/** @param {{save: (type: "svg"|"png") => void, disabled?: boolean}} props */
export function SavePicture({ save, disabled = false }) {
  return ["svg", "png"].map((type) => html`<button type="button" class=${`save-${type}`} title="Save the picture, ready for a paper" disabled=${disabled} onClick=${() => save(type)}>${type.toUpperCase()}</button>`);
}

/**
 * @param {{rows: () => object[], name: string, title?: string, disabled?: boolean, stated?: boolean}} props  whether
 *   the counts are stated next to the button, too
 */
export function SaveCsv({ rows, name, title = "Save the numbers", disabled = false, stated = false }) {
  return html`<button type="button" class="save-csv" title=${`${title}. ${COUNTS}`} disabled=${disabled} onClick=${() => saveCsv(rows(), name)}>CSV</button>
    ${stated && html`<span class="small soft">${COUNTS}</span>`}`;
}
