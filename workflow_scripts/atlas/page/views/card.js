/** To come. */

import { html } from "../vendor/standalone.module.js";

export function Card({ state }) {
  return html`<p>${state.head}</p>`;
}
