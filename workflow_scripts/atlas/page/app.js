/** The page: reads the atlas, follows the address, shows one view. */

import { html, render, useEffect, useRef, useState } from "./vendor/standalone.module.js";
import { sidesOf } from "./lib/choice.js";
import { format, parse } from "./lib/fragment.js";
import { headIndex, headName, modelOf } from "./lib/measures.js";
import { misread } from "./lib/misread.js";
import { openingOf } from "./lib/opening.js";
import { withOwnTokens } from "./lib/specials.js";
import { About } from "./views/about.js";
import { Card } from "./views/card.js";
import { Claims } from "./views/claims.js";
import { Compare } from "./views/compare.js";
import { Gallery } from "./views/gallery.js";
import { GridView } from "./views/grid.js";
import { useEntrance } from "./views/hooks.js";
import { ModelMaps } from "./views/modelmaps.js";

const VIEWS = { grid: GridView, maps: ModelMaps, head: Card, compare: Compare, claims: Claims, figures: Gallery, about: About };
const TABS = [["maps", "Heads"], ["grid", "Measures"], ["compare", "Compare"], ["claims", "Claims"], ["figures", "Figures"], ["about", "About"]];
const [DARK, PAPER] = ["(prefers-color-scheme: dark)", "print"].map((query) => matchMedia(query));

/** The state in the address, and the function that changes it. */
function useAddress() {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const follow = () => setFragment(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const go = (patch, { replace = false } = {}) => {
    const next = format({ ...parse(location.hash), ...patch });
    if (next === format(parse(location.hash))) return;
    setFragment(next); // at once: the event comes a moment later
    if (replace) location.replace(next);
    else location.hash = next;
  };
  return [parse(fragment), go];
}

/** Whether the browser's window matches a media query. */
function useMedia(query) {
  const [matches, setMatches] = useState(query.matches);
  useEffect(() => {
    const follow = () => setMatches(query.matches);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return matches;
}

/** Whether the page is dark: never on paper, else as the address states, else as the system is set. */
function useDark(theme) {
  const [system, paper] = [useMedia(DARK), useMedia(PAPER)];
  const dark = !paper && (theme ? theme === "dark" : system);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  return dark;
}

function App({ atlas }) {
  const [state, go] = useAddress();
  const dark = useDark(state.theme);
  const main = useRef(null);
  const opening = openingOf(atlas, state);
  const known = Object.hasOwn(VIEWS, state.view ?? "") && !lacks(atlas, state.view);
  const view = known ? state.view : state.head ? "head" : state.measure || state.filter ? "grid" : opening;
  const model = modelOf(atlas, state);
  const index = headIndex(model, state.head);
  const from = useEntrance(main, view, index, opening);
  useEffect(() => {
    const press = (event) => {
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape" && parse(location.hash).view === "head") go({ view: from });
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [from]);
  useEffect(() => {
    document.title = `${TABS.find(([name]) => name === view)?.[1] ?? `Head ${headName(model, Math.max(0, index))}`} · ${atlas.study.name} · Attention Atlas`;
  });
  const View = VIEWS[view];
  return html`
    <a class="skip" href="#main" onClick=${(event) => skip(event, main.current)}>Skip to the content</a>
    <${Header} ...${{ atlas, state, go, dark, models: modelsNamed(atlas, state, view), tab: view === "head" ? from : view }} />
    <main id="main" data-view=${view} tabindex="-1" ref=${main}>
      ${misread(atlas, state, view).map((sentence) => html`<p class="notice" role="alert"><bdi>${sentence}</bdi></p>`)}
      <${View} ...${{ atlas, state, go, dark, from }} />
    </main>
  `;
}

// A study without claims or figures has no view of them.
function lacks(atlas, view) {
  return ["claims", "figures"].includes(view) && !atlas[view]?.length;
}

// The address is the state, so a link within the page must not change it.
function skip(event, main) {
  event.preventDefault();
  main.focus();
}

// Of views that show more than the chosen model: the titles of both sides, once where they are one, or of all models.
function modelsNamed(atlas, state, view) {
  if (view === "figures") return atlas.models.length > 1 ? "all models" : null;
  if (view !== "compare") return null;
  return [...new Set(sidesOf(atlas, state).map(({ model }) => model.title))].join(" and ");
}

/** models: named instead of chosen */
function Header({ atlas, state, go, dark, tab, models }) {
  const model = modelOf(atlas, state);
  return html`
    <header class="top row">
      <h1>Attention Atlas <span class="study">${atlas.study.name}</span></h1>
      <nav aria-label="Views">
        ${TABS.filter(([name]) => !lacks(atlas, name)).map(
          ([name, title]) => html`
            <a href=${format({ ...state, view: name })} aria-current=${name === tab ? "page" : undefined}>${title}</a>
          `,
        )}
      </nav>
      <div class="tools row">
        ${atlas.models.length > 1 && !models
          ? html`
              <label for="model">Model</label>
              <select id="model" value=${model.name} onChange=${(event) => go({ model: event.target.value })}>
                ${atlas.models.map(({ name, title }) => html`<option value=${name}>${title}</option>`)}
              </select>
            `
          : html`<span id="model" class="only-model"><bdi>${models ?? model.title}</bdi></span>`}
        <button type="button" onClick=${() => go({ theme: dark ? "light" : "dark" }, { replace: true })}>
          ${dark ? "Light" : "Dark"}
        </button>
      </div>
    </header>
  `;
}

const atlas = withOwnTokens(JSON.parse(document.getElementById("atlas").textContent));
const element = document.getElementById("app");
// A notebook's frame has no address of its own to open the page at.
if (element.dataset.address && location.hash === "") location.replace(element.dataset.address);
render(html`<${App} atlas=${atlas} />`, element);
