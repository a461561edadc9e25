/** To come. */

import { html } from "../vendor/standalone.module.js";

export function TableView({ state }) {
  return html`<p>${state.view}</p>`;
}
