/** Roles of heads: their legend and filter, and what a card states of them. */

import { html } from "../vendor/standalone.module.js";
import { format } from "../lib/fragment.js";
import { formatFilters, withFilter } from "../lib/filters.js";
import { plural } from "../lib/format.js";
import { headName } from "../lib/measures.js";
import { badgesAt, badgesOf, sharingWith } from "../lib/roles.js";
import { share } from "../lib/summary.js";

/** The legend of the roles; a click shows its measure and keeps the heads that have it. */
export function Roles({ model, filters, go }) {
  const badges = badgesOf(model);
  if (badges.length === 0) return null;
  const choose = ({ id, measure }) => {
    const there = filters.find((one) => one.op === "@" && one.id === id);
    if (there) go({ filter: formatFilters(filters.filter((one) => one !== there)) });
    else go({ filter: formatFilters(withFilter(filters, { id, op: "@", value: null })), ...(measure && { measure }) });
  };
  return html`<section class="roles small" aria-labelledby="roles-title">
    <h3 id="roles-title">Roles</h3>
    <ul class="row">
      ${badges.map((badge) => html`<li key=${badge.id}>
        <button type="button" class="plain" title=${badge.about} aria-pressed=${filters.some(({ id, op }) => op === "@" && id === badge.id) ? "true" : "false"}
          onClick=${() => choose(badge)}><bdi>${badge.title}</bdi></button>
        <span class="soft number">${plural(badge.heads.length, "head")}</span>
      </li>`)}
    </ul>
    <details>
      <summary>What the roles are</summary>
      <dl>${badges.map((badge) => html`<div key=${badge.id}><dt><bdi>${badge.title}</bdi></dt><dd class="soft"><bdi>${badge.about}</bdi></dd></div>`)}</dl>
    </details>
  </section>`;
}

/** A card's roles with their numbers, and the heads that share keys and values with this one. */
export function CardRoles({ model, measures, index, state }) {
  const badges = badgesAt(model, index);
  const others = sharingWith(model, index);
  if (badges.length === 0 && others.length === 0) return null;
  return html`<section class="card-roles" aria-label="Roles">
    ${badges.length > 0 && html`<ul>${badges.map((badge) => html`<li key=${badge.id}><${Role} ...${{ badge, measures, index, state }} /></li>`)}</ul>`}
    ${others.length > 0 && html`<p class="small">Shares its keys and values with ${others.map((other, place) => html`${place > 0 && ", "}<a href=${format({ ...state, head: headName(model, other) })}>${headName(model, other)}</a>`)}: these heads differ in their queries alone.</p>`}
  </section>`;
}

function Role({ badge, measures, index, state }) {
  const measure = measures.find(({ id }) => id === badge.measure);
  const title = html`<bdi>${badge.title}</bdi>`;
  return html`
    ${measure ? html`<a href=${format({ ...state, view: "grid", measure: measure.id })}>${title}</a>: ${share(measure, index)}.` : title}
    <span class="soft small"><bdi> ${badge.about}</bdi></span>
  `;
}
