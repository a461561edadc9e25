/** To come. */

import { html } from "../vendor/standalone.module.js";

export function Compare({ state }) {
  return html`<p>${state.head}</p>`;
}
