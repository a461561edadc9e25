/** Two heads, two models, or one head before and after fine-tuning, side by side. */

import { html } from "../vendor/standalone.module.js";
import { changesOf, segmentsFor, sidesOf, sideText } from "../lib/choice.js";
import { format } from "../lib/fragment.js";
import { headIndex, headName, layersOf, listed, valueText } from "../lib/measures.js";
import { pairs } from "../lib/pairs.js";
import { CompareMaps, sideName } from "./comparemaps.js";
import { CompareTable } from "./comparetable.js";

const CHANGED = 8; // heads listed

/** @param {{atlas: object, state: object, go: function, dark: boolean}} props */
export function Compare({ atlas, state, go, dark }) {
  const [a, b] = sidesOf(atlas, state);
  const { chosen: segments, suited } = segmentsFor(atlas, a, b, state.segment);
  const shared = { atlas, a, b, segments, suited, state, go, dark, ...pairs(atlas, a, b) };
  return html`<article class="compare" aria-labelledby="compare-title">
    <header class="compare-head">
      <h2 id="compare-title"><bdi>${sideName(a, b)}</bdi> <span class="soft">and</span> <bdi>${sideName(b, a)}</bdi></h2>
      <div class="sides">
        <${Side} letter="A" name="a" side=${a} ...${{ atlas, state, go }} />
        <button type="button" class="swap" onClick=${() => go({ a: sideText(b), b: sideText(a) })}>Swap</button>
        <${Side} letter="B" name="b" side=${b} ...${{ atlas, state, go }} />
      </div>
      <${MostChanged} ...${{ atlas, state }} />
    </header>
    <${CompareMaps} ...${shared} />
    <${CompareTable} ...${shared} />
  </article>`;
}

function Side({ letter, name, side, atlas, state: address, go }) {
  const { model, index, state } = side;
  const put = (change) => go({ [name]: sideText({ ...side, ...change }) });
  const withModel = (chosen) => {
    const next = atlas.models.find((one) => one.name === chosen);
    const same = headIndex(next, headName(model, index));
    return { model: next, index: Math.max(0, same), state: next.states.some((one) => one.name === state) ? state : next.states[0].name };
  };
  return html`<fieldset class="side row">
    <legend>${letter}</legend>
    ${atlas.models.length > 1 &&
    html`<label>Model
      <select value=${model.name} onChange=${(event) => put(withModel(event.target.value))}>
        ${atlas.models.map((one) => html`<option value=${one.name}>${one.title}</option>`)}
      </select>
    </label>`}
    <label>Head
      <select value=${headName(model, index)} onChange=${(event) => put({ index: headIndex(model, event.target.value) })}>
        ${layersOf(model).map(({ type, layer, name }) => html`<optgroup label=${[type?.title, `Layer ${layer}`].filter(Boolean).join(", ")}>
          ${Array.from({ length: model.n_heads }, (_, head) => html`<option value=${`${name}-${head + 1}`}>${name}-${head + 1}</option>`)}
        </optgroup>`)}
      </select>
    </label>
    <label>Checkpoint
      <select value=${state} onChange=${(event) => put({ state: event.target.value })}>
        ${model.states.map((one) => html`<option value=${one.name}>${one.title}</option>`)}
      </select>
    </label>
    <a class="small" href=${format({ ...address, view: "head", model: model.name, head: headName(model, index), state })}>card</a>
  </fieldset>`;
}

/** The heads whose maps changed most, where the study compares two models. */
function MostChanged({ atlas, state }) {
  const side = (model, index) => sideText({ model, index, state: model.states[0].name });
  return changesOf(atlas).map((measure) => {
    const [before, after] = [measure.source.where.compared_with, measure.model].map((name) => atlas.models.find((model) => model.name === name));
    return html`<nav class="presets row small" aria-label="Heads that changed most">
      <span class="soft">Heads that changed most from <bdi>${before.title}</bdi> to <bdi>${after.title}</bdi>:</span>
      ${listed(measure).slice(0, CHANGED).map((index) => html`<a key=${index} href=${format({ ...state, a: side(before, headIndex(before, measure.label[index])), b: side(after, index) })}>${headName(after, index)} <span class="soft">${valueText(measure, index)}</span></a>`)}
    </nav>`;
  });
}
