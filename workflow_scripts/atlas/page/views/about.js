/** To come. */

import { html } from "../vendor/standalone.module.js";

export function About({ state }) {
  return html`<p>${state.view}</p>`;
}
