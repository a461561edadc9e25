/** The card of one head: what it does, its maps, its tasks, comparisons, every measure. */

import { html, useLayoutEffect } from "../vendor/standalone.module.js";
import { sideText, otherStatesWithMaps } from "../lib/choice.js";
import { format } from "../lib/fragment.js";
import { headIndex, headName, layerOf, measuresOf, modelOf } from "../lib/measures.js";
import { HeadMaps } from "./headmaps.js";
import { Profile } from "./profile.js";
import { CardRoles } from "./roles.js";
import { Summary } from "./summary.js";
import { Tasks } from "./tasks.js";

/** @param {{atlas: object, state: object, go: function, dark: boolean, from: string}} props  from: the view that a card leads back to */
export function Card({ atlas, state, go, dark, from }) {
  const model = modelOf(atlas, state);
  const index = Math.max(0, headIndex(model, state.head));
  const size = model.n_layers * model.n_heads;
  const neighbour = (step) => headName(model, (index + step + size) % size);
  // Before the next key: an effect after painting would still step from the head before.
  useLayoutEffect(() => {
    const press = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const elsewhere = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
      if (!step || elsewhere || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      event.preventDefault();
      go({ head: neighbour(step) }, { replace: true });
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [model, index]);
  const measures = measuresOf(atlas, model);
  const label = headName(model, index);
  const { type, layer } = layerOf(model, index);
  const shared = { atlas, model, index, measures, state, go, dark };
  return html`<article class="card" aria-labelledby="card-title">
    <header class="card-head row">
      <a class="back" href=${format({ ...state, view: from })} title="Escape">All heads</a>
      <h2 id="card-title">${label}</h2>
      <p class="soft">head ${(index % model.n_heads) + 1} of ${model.n_heads} in layer ${layer} of ${type ? `${type.n_layers} of ${type.name} attention` : model.n_layers}, <bdi>${model.title}</bdi></p>
      <nav aria-label="Neighbouring heads">
        <a href=${format({ ...state, head: neighbour(-1) })} rel="prev" aria-label=${`Previous head, ${neighbour(-1)}`} title="←">← ${neighbour(-1)}</a>
        <a href=${format({ ...state, head: neighbour(1) })} rel="next" aria-label=${`Next head, ${neighbour(1)}`} title="→">${neighbour(1)} →</a>
      </nav>
    </header>
    <${Summary} ...${shared} />
    <${HeadMaps} ...${shared} />
    <${CardRoles} ...${shared} />
    <${Tasks} ...${shared} />
    <${Comparisons} ...${shared} />
    <details>
      <summary>Every measure of the head</summary>
      <${Profile} ...${shared} />
    </details>
  </article>`;
}

function Comparisons({ atlas, model, index, state }) {
  const own = { model, index, state: model.states[0].name };
  const to = (b) => format({ ...state, view: "compare", a: sideText(own), b: sideText(b) });
  const tuned = otherStatesWithMaps(atlas, model, own.state);
  // Heads of other types of attention have no partners.
  const others = atlas.models.filter(({ name, types }) => name !== model.name && !types === !model.types);
  const same = (other) => headIndex(other, headName(model, index));
  if (tuned.length === 0 && others.length === 0) return null;
  return html`<section class="comparisons" aria-labelledby="comparisons-title">
    <div class="section-head row"><h3 id="comparisons-title">Compare</h3></div>
    <ul>
      ${tuned.map(({ name, title }) => html`<li key=${name}><a href=${to({ ...own, state: name })}>Before and after: ${title}</a></li>`)}
      ${others.map((other) => html`<li key=${other.name}><a href=${to({ model: other, index: Math.max(0, same(other)), state: other.states[0].name })}>
        With ${headName(other, Math.max(0, same(other)))} of <bdi>${other.title}</bdi></a></li>`)}
    </ul>
  </section>`;
}
