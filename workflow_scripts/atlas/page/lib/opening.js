/** What the page opens on: its view, the kinds of a model's heads, and the findings about it. */

import { segmentsOf } from "./choice.js";
import { format } from "./fragment.js";
import { findMeasure, headName, holds, KIND, measuresOf, modelOf, valueText } from "./measures.js";
import { badgesOf } from "./roles.js";
import { category, colours } from "./scales.js";
import { tokenNames } from "./specials.js";
import { behind } from "./summary.js";

const MOST = 5; // findings
const LEAST = 10; // % of the attention that is worth a finding
const RARE = 0.25; // of the heads at most have a role that marks them

// What the head with the largest share is said to do, or with the largest effect, of measures by their ids.
const HEADS = [
  [/^role\.induction$/, "attends most to what followed an earlier copy of the token (induction)"],
  [/^attention\.same_word$/, "attends most to other copies of the same word"],
  [/^(attention|role)\.previous$/, "attends most to the previous token"],
  [/^role\.duplicate$/, "attends most to earlier copies of the token"],
  [/^attention\.sep$/, ({ sep }) => `attends most to ${sep}`],
  [/^syntax\.best$/, "beats the best fixed offset by most"],
  [/^copying\.top$/, "raises most the tokens that it attends to (copying)"],
  [/^disabling\.[^.]+\.[^.]+\.head\.uniform\.dev$/, "costs most when it is disabled", -1],
  [/^translation\.head\.zero\.test\.bleu$/, "costs most when it is disabled", -1],
  [/^translation\.importance$/, "has the largest gradient importance"],
];

/** The view of all heads to which a card leads: their maps, or the grid where there are none. */
export function openingOf(atlas, state) {
  return segmentsOf(atlas, modelOf(atlas, state)).length === 0 ? "grid" : "maps";
}

/**
 * The kinds of a model's heads; where it has none, the roles that few heads have.
 * @param {object} atlas
 * @param {object} model
 * @param {boolean} dark
 * @returns {{title: string, note: string|undefined, colour: string, heads: number[], address: object}[]}  address: of
 *   the grid with these heads alone
 */
export function kindsOf(atlas, model, dark) {
  const measure = findMeasure(atlas, model, KIND);
  if (!measure) {
    const few = badgesOf(model).filter(({ heads }) => heads.length <= RARE * model.n_layers * model.n_heads);
    return few.map(({ id, title, heads, measure: shown }, place) => ({ title, colour: category(place, dark), heads, address: { measure: shown, filter: `@${id}` } }));
  }
  const colour = colours(measure, dark);
  const kinds = measure.categories.map((title, kind) => ({
    title,
    note: measure.category_notes?.[kind],
    colour: colour(kind),
    heads: measure.value.flatMap((value, index) => (value === kind ? [index] : [])),
    address: { measure: KIND, filter: `${KIND}:${kind}` },
  }));
  return kinds.filter(({ heads }) => heads.length > 0);
}

/**
 * Findings about a model: those of the study, then the heads that are first of a measure.
 * @param {object} atlas
 * @param {object} model
 * @returns {{sentence: string, numbers: string, verdict: string, address: string}[]}  at most MOST
 */
export function findingsOf(atlas, model) {
  const stated = (atlas.findings ?? []).filter((finding) => finding.model === model.name);
  const measures = measuresOf(atlas, model);
  const first = HEADS.flatMap(([ids, does, sign = 1]) => {
    const all = measures.filter(({ id }) => ids.test(id)).flatMap((measure) => measure.value.map((value, index) => ({ measure, value, index })));
    const found = all.filter(({ measure, value, index }) => value !== null && (sign > 0 || value < 0) && holds(measure, index) !== false);
    if (found.length === 0) return [];
    const { measure, index, value } = found.reduce((best, one) => (sign * one.value > sign * best.value ? one : best));
    if (measure.unit === "%" && value < LEAST) return [];
    return [{ head: headName(model, index), measure, index, does }];
  });
  const own = first.map(({ head, measure, index, does }) => ({
    sentence: `Of all heads, ${head} ${typeof does === "function" ? does(tokenNames(model)) : does}.`,
    numbers: `${measure.title}: ${valueText(measure, index)} (${behind(measure, index, { last: [`the first of ${measure.value.length} heads`] })})`,
    verdict: "",
    address: format({ model: model.name, view: "head", head, measure: measure.id }),
  }));
  const named = ({ address }) => /head=[^&]+/.exec(address)?.[0];
  return [...stated, ...own.filter((one) => !stated.some((other) => named(other) === named(one)))].slice(0, MOST);
}
