/** Roles of heads: marks in cells, their legend and filter, and what a card states of them; key-value groups. */

import { html } from "../vendor/standalone.module.js";
import { format } from "../lib/fragment.js";
import { formatFilters, withFilter } from "../lib/filters.js";
import { plural } from "../lib/format.js";
import { headName } from "../lib/measures.js";
import { badgesAt, badgesOf, sharedBy } from "../lib/roles.js";
import { written } from "./profile.js";

const TALL = 11; // pixels of a mark

/** The marks of a head's roles in its cell, part of a picture; a corner where they do not fit. */
export function CellMarks({ placed, width }) {
  if (placed.length === 0) return html`<path class="role-mark" d=${`M${width - 8} 0h7v7z`} />`;
  return placed.map(({ text, x, width: wide }) => html`
    <rect class="role-mark" x=${x} y="1.5" width=${wide} height=${TALL} rx="2.5" />
    <text class="role-letter" x=${x + wide / 2} y=${1.5 + TALL / 2} dy="0.35em">${text}</text>
  `);
}

/** A mark in the text. */
function Mark({ badge }) {
  return html`<b class="role" aria-hidden="true"><bdi>${badge.mark}</bdi></b>`;
}

/** The marks of a head with their titles, for a row of a table or a tooltip. */
export function RolesOf({ model, index, titled = false }) {
  return badgesAt(model, index).map((badge) => html`<span class="role-of" key=${badge.id} title=${badge.title}>
    <${Mark} badge=${badge} /> ${titled ? html`<bdi>${badge.title}</bdi>` : html`<span class="only-screen-reader">${badge.title}</span>`}
  </span> `);
}

/** The legend of the roles; a click shows its measure and keeps the heads that have it. */
export function Roles({ model, filters, go }) {
  const badges = badgesOf(model);
  if (badges.length === 0) return null;
  const choose = ({ id, measure }) => {
    const there = filters.find((one) => one.op === "@" && one.id === id);
    if (there) go({ filter: formatFilters(filters.filter((one) => one !== there)) });
    else go({ filter: formatFilters(withFilter(filters, { id, op: "@", value: null })), ...(measure && { measure }) });
  };
  return html`<section class="roles" aria-labelledby="roles-title">
    <h3 id="roles-title">Roles</h3>
    <ul>
      ${badges.map((badge) => html`<li key=${badge.id}>
        <button type="button" class="plain" title=${badge.about} aria-pressed=${filters.some(({ id, op }) => op === "@" && id === badge.id) ? "true" : "false"}
          onClick=${() => choose(badge)}><${Mark} badge=${badge} /> <bdi>${badge.title}</bdi></button>
        <span class="soft number">${plural(badge.heads.length, "head")}</span>
      </li>`)}
    </ul>
    <details>
      <summary>What the roles are</summary>
      <dl>${badges.map((badge) => html`<div key=${badge.id}><dt><${Mark} badge=${badge} /> <bdi>${badge.title}</bdi></dt><dd class="soft"><bdi>${badge.about}</bdi></dd></div>`)}</dl>
    </details>
  </section>`;
}

/** A card's roles with their numbers, and the heads that share keys and values with this one. */
export function CardRoles({ model, measures, index, state }) {
  const badges = badgesAt(model, index);
  const shared = sharedBy(model, index);
  if (badges.length === 0 && !shared) return null;
  return html`<section class="card-roles" aria-label="Roles">
    ${badges.length > 0 && html`<ul>${badges.map((badge) => html`<li key=${badge.id}><${Role} ...${{ badge, measures, index, state }} /></li>`)}</ul>`}
    ${shared && html`<p class="small">Shares its keys and values with ${shared.others.map((other, place) => html`${place > 0 && ", "}<a href=${format({ ...state, head: headName(model, other) })}>${headName(model, other)}</a>`)}
      <span class="soft"> (key-value group ${shared.group} of ${shared.of} in the layer): these heads differ in their queries alone.</span></p>`}
  </section>`;
}

function Role({ badge, measures, index, state }) {
  const measure = measures.find(({ id }) => id === badge.measure);
  const title = html`<${Mark} badge=${badge} /> <bdi>${badge.title}</bdi>`;
  return html`
    ${measure ? html`<a href=${format({ ...state, view: "grid", measure: measure.id })}>${title}</a>: ${written(measure, index)}.` : title}
    <span class="soft small"><bdi> ${badge.about}</bdi></span>
  `;
}
