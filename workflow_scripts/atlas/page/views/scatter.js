/** To come. */

import { html } from "../vendor/standalone.module.js";

export function ScatterView({ state }) {
  return html`<p>${state.view}</p>`;
}
