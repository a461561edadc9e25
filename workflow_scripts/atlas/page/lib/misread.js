/** What an address asks for and the study does not have. */

import { segmentOf, sidesOf, sideText, stateOf, stateTitle } from "./choice.js";
import { malformed } from "./filters.js";
import { headIndex, headName, measureOf, modelOf } from "./measures.js";

const OF_HEADS = ["grid", "maps"];

/**
 * Sentences that name what was not understood, and what is shown instead.
 * @param {object} atlas
 * @param {object} state  of the address
 * @param {string} view  that is shown
 * @returns {string[]}
 */
export function misread(atlas, state, view) {
  const model = modelOf(atlas, state);
  const no = (what, name, instead) => `${model.title} has no ${what} “${name}”; ${instead}.`;
  const found = [];
  if (state.view && state.view !== view) found.push(`There is no view “${state.view}”; “${view}” is shown.`);
  if (state.model && state.model !== model.name) found.push(`This study has no model “${state.model}”; ${model.title} is shown.`);
  if (view === "head" && state.head && headIndex(model, state.head) < 0) found.push(no("head", state.head, `${headName(model, 0)} is shown`));
  if ((view === "head" || view === "maps") && state.state && !model.states.some(({ name }) => name === state.state)) {
    const segment = segmentOf(atlas, model, state.segment, state.state);
    if (segment) found.push(no("checkpoint", state.state, `${stateTitle(model, stateOf(segment, state.state))} is shown`));
  }
  if (view === "figures" && state.figure && !atlas.figures.some(({ id }) => id === state.figure)) found.push(`This study has no figure “${state.figure}”.`);
  if (view === "compare") {
    sidesOf(atlas, state).forEach((side, place) => {
      if (side.unknown) found.push(`This study has no “${side.unknown}”; side ${"AB"[place]} is ${sideText(side)}.`);
    });
  }
  if (OF_HEADS.includes(view)) {
    found.push(...malformed(state.filter).map((part) => `The filter “${part}” is not understood and not applied.`));
    const measure = measureOf(atlas, state);
    if (state.measure && measure && state.measure !== measure.id) found.push(no("measure", atlas.measures.find(({ id }) => id === state.measure)?.title ?? state.measure, view === "maps" ? "the borders show none" : `“${measure.title}” is shown`));
  }
  return found;
}
