/** To come. */

import { html } from "../vendor/standalone.module.js";

export function GridView({ state }) {
  return html`<p>${state.view}</p>`;
}
