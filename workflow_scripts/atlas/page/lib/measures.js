/**
 * Measures of heads: what a number is, where it stands among the others, which heads pass a filter.
 *
 * Heads are numbered layer by layer from 0 (`index`); people read `<layer>-<head>` from 1 ("3-7"). A model
 * with several types of attention has a row of heads for each layer of each type ("Enc-Dec 3-7").
 * Measure and model are entries of atlas.json.
 */

import { number } from "./format.js";
import { once } from "./once.js";
import { badgesAt, badgesOf } from "./roles.js";

const P_LEVEL = 0.05;
export const KIND = "behaviour.stratum"; // the overview of all chapters
// The baseline of a change against the intact model: a loss and a gain both count.
const NO_EFFECT = "no effect";

/** The entry of the model that `state` names, else the first. */
export function modelOf(atlas, state) {
  return atlas.models.find(({ name }) => name === state.model) ?? atlas.models[0];
}

const byModel = once(({ measures }) => Map.groupBy(measures, ({ model }) => model));

/** All measures of a model, in the order of the file. */
export function measuresOf(atlas, model) {
  return byModel(atlas).get(model.name) ?? [];
}

/** The measure `id` of a model, or undefined. */
export function findMeasure(atlas, model, id) {
  return atlas.measures.find((measure) => measure.model === model.name && measure.id === id);
}

/** The measures that a model lacks, each of the first other model that has it. */
export function measuresElsewhere(atlas, model) {
  const had = new Set(measuresOf(atlas, model).map(({ id }) => id));
  return atlas.measures.filter(({ id }) => !had.has(id) && had.add(id));
}

/** The measure that `state` names, else the kind of head or the first role where the model has one, else its first. */
export function measureOf(atlas, state) {
  const model = modelOf(atlas, state);
  const roles = badgesOf(model).map(({ measure }) => measure);
  const named = [state.measure, KIND, ...roles].map((id) => findMeasure(atlas, model, id));
  return named.find(Boolean) ?? measuresOf(atlas, model)[0];
}

/**
 * Measures by paper and group, as a select shows them.
 * @returns {{label: string, measures: object[]}[]}
 */
export function groups(atlas, measures) {
  const titles = new Map(atlas.papers.map(({ name, title }) => [name, title]));
  const found = Map.groupBy(measures, ({ paper, group }) => `${titles.get(paper) ?? paper} · ${group}`);
  return [...found].map(([label, members]) => ({ label, measures: members }));
}

/**
 * The layers of a model, as rows of heads, from the first.
 * @returns {{type: object|undefined, layer: number, name: string}[]}  type: of the model's `types`, if it has
 *   several; layer: from 1, in its type; name: "3", "Enc-Dec 3"
 */
export const layersOf = once(({ n_layers, types = [{ n_layers }] }) =>
  types.flatMap((type) =>
    Array.from({ length: type.n_layers }, (_, index) => ({
      type: type.name && type,
      layer: index + 1,
      name: [type.title, index + 1].filter(Boolean).join(" "),
    })),
  ),
);

const headNames = once((model) =>
  layersOf(model).flatMap(({ name }) => Array.from({ length: model.n_heads }, (_, head) => `${name}-${head + 1}`)),
);

/**
 * The types of attention of a model that has several, with their first and last row of heads.
 * @returns {{title: string, first: number, last: number}[]}
 */
export const typesOf = once(({ types = [] }) => {
  let next = 0;
  return types.map(({ title, n_layers }) => ({ title, first: next, last: (next += n_layers) - 1 }));
});

/** The layer of a head, as `layersOf` has it. */
export function layerOf(model, index) {
  return layersOf(model)[Math.floor(index / model.n_heads)];
}

/** The name of a head's type of attention; undefined where the model has one type alone. */
export function typeOf(model, index) {
  return layerOf(model, index).type?.name;
}

/** Layer and head, from 0, of a head in its maps, which of a translator are of its type of attention. */
export function placeOf(model, index) {
  return [layerOf(model, index).layer - 1, index % model.n_heads];
}

/** "3-7" for index 30 of a model with 12 heads a layer. */
export function headName(model, index) {
  return headNames(model)[index];
}

/** 30 for "3-7" of a model with 12 heads a layer; -1 where the model has no such head. */
export function headIndex(model, name) {
  return headNames(model).indexOf(name);
}

/** The baseline of this head, its value where there would be no effect, or null. */
export function nullOf(measure, index) {
  return Array.isArray(measure.null) ? measure.null[index] : measure.null;
}

/** How many observations the value is over, or null. */
export function countOf(measure, index) {
  return Array.isArray(measure.n) ? measure.n[index] : measure.n;
}

/** The same with what is counted: "260 tokens". */
export function countText(measure, index) {
  const n = countOf(measure, index);
  const of = n === 1 ? measure.n_of?.slice(0, -1) : measure.n_of;
  return n && of ? `${n} ${of}` : n;
}

/** The ends of the interval, or null. */
export function intervalOf(measure, index) {
  const [low, high] = [measure.low?.[index] ?? null, measure.high?.[index] ?? null];
  return low === null || high === null ? null : [low, high];
}

/** "1.02 to 1.31", or null. */
export function intervalText(measure, index) {
  return intervalOf(measure, index)?.map((end) => number(end, measure.decimals)).join(" to ") ?? null;
}

/** Whether values on the better side of the baseline alone count, and not those on the other side. */
export function oneSided({ better, null: none, null_title: title }) {
  return Boolean(better) && none !== null && title !== NO_EFFECT;
}

/**
 * Whether the value differs from the baseline, in either direction: the p-value, corrected over the heads, is
 * below 0.05; where the measure has none, the head's interval excludes the baseline. Null where
 * the head has neither.
 */
export function differs(measure, index) {
  if (measure.p) return measure.p[index] === null ? null : measure.p[index] < P_LEVEL;
  const interval = intervalOf(measure, index);
  const none = nullOf(measure, index) ?? null;
  return interval === null || none === null ? null : none < interval[0] || interval[1] < none;
}

/** Whether the value differs from the baseline and lies on the better side of it; null as in `differs`. */
export function beats(measure, index) {
  const none = nullOf(measure, index) ?? null;
  const found = measure.better && none !== null ? differs(measure, index) : null;
  return found && (measure.better === "low" ? measure.value[index] < none : measure.value[index] > none);
}

/** Whether the head is what `claim` states; null where neither a test nor an interval decides it. */
export function holds(measure, index) {
  return (oneSided(measure) ? beats : differs)(measure, index);
}

/** Whether the head is not what `claim` states. */
export function hatched(measure, index) {
  return holds(measure, index) === false;
}

/** What is tested of a head: "better than the baseline", "differs from the baseline", or null for nothing. */
export function claim(measure) {
  if (!measure.p && (measure.null === null || !measure.low)) return null;
  return oneSided(measure) ? "better than the baseline" : "differs from the baseline";
}

/** What is stated of a hatched head. */
export function denial(measure) {
  return oneSided(measure) ? "not better than the baseline" : "no detectable difference from the baseline";
}

/** The rule of `hatched` for this measure in words, or null where nothing is tested. */
export function hatchRule(measure) {
  if (!claim(measure)) return null;
  const side = measure.better === "low" ? "below" : "above";
  const stated = measure.null_title ? `${denial(measure)} (${measure.null_title})` : denial(measure);
  if (measure.p) return `${stated}: p, corrected over the heads, is ${P_LEVEL} or more${oneSided(measure) ? `, or the value is not ${side} it` : ""}`;
  const where = oneSided(measure) ? `does not lie entirely ${side} it` : "includes it";
  return `${stated}: the head's own interval ${where} (not corrected for the number of heads)`;
}

/**
 * Rank of each head, 1 for the highest value, or for the lowest where lower is better; equal values
 * share the better rank; null where the value is unknown or a category.
 * @returns {(number|null)[]}
 */
export const ranks = once(({ value, better, scale }) => {
  if (scale === "category") return value.map(() => null);
  const sign = better === "low" ? 1 : -1;
  const known = value.filter((one) => one !== null).sort((a, b) => sign * (a - b));
  const first = new Map();
  known.forEach((one, place) => first.has(one) || first.set(one, place + 1));
  return value.map((one) => first.get(one) ?? null);
});

/** Indices of heads, the first in rank first: the highest value, or the lowest where lower is better; unknown ones last. */
export function listed(measure) {
  const rank = (index) => ranks(measure)[index] ?? Infinity;
  return measure.value.map((_, index) => index).sort((a, b) => rank(a) - rank(b) || a - b);
}

/** The mean of each layer's known values, layer 1 first; null of none. */
export function layerMeans(measure, { n_layers: layers, n_heads: heads }) {
  const rows = Array.from({ length: layers }, (_, layer) => measure.value.slice(layer * heads, (layer + 1) * heads).filter((one) => one !== null));
  return rows.map((row) => (row.length ? row.reduce((sum, one) => sum + one, 0) / row.length : null));
}

/** How many heads have a value. */
export const known = once(({ value }) => value.reduce((sum, one) => sum + (one !== null), 0));

/** What follows a rank: "of 72", and from where it counts. */
export function among(measure) {
  return `of ${known(measure)}${measure.better === "low" ? " from the lowest" : ""}`;
}

/** Lowest and highest value, or null where none is known. */
export const extent = once(({ value }) => {
  const values = value.filter((one) => one !== null);
  return values.length ? [Math.min(...values), Math.max(...values)] : null;
});

/** The value as people read it, with its unit: "2.31 nats", "vertical", "unknown". */
export function valueText(measure, index) {
  const one = measure.value[index];
  if (one === null || one === undefined) return "unknown";
  if (measure.scale === "category") return measure.categories[one] ?? "unknown";
  return withUnit(measure, one);
}

/** A number of this measure with its unit. */
export function withUnit(measure, one) {
  const gap = measure.unit === "" || measure.unit === "%" ? "" : " ";
  return `${number(one, measure.decimals)}${gap}${measure.unit}`;
}

/** One head of one measure in a sentence, for a screen reader and a tooltip. */
export function sentence(model, measure, index) {
  const parts = [`Head ${headName(model, index)}, ${measure.title} ${valueText(measure, index)}`];
  const label = measure.label?.[index];
  if (label) parts.push(label);
  const interval = intervalText(measure, index);
  if (interval) parts.push(`interval ${interval}`);
  const rank = ranks(measure)[index];
  if (rank !== null) parts.push(`rank ${rank} ${among(measure)}`);
  if (countOf(measure, index)) parts.push(`n ${countText(measure, index)}`);
  if (hatched(measure, index)) parts.push(`hatched: ${denial(measure)}`);
  const roles = badgesAt(model, index);
  if (roles.length > 0) parts.push(`roles: ${roles.map(({ title }) => title).join(", ")}`);
  return parts.join(", ");
}
