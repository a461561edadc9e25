/** What a scatter plot shows: ranges, positions, the correlation in words. */

import { number, plural } from "./format.js";
import { findMeasure, intervalOf, layerOf, measureOf, measuresOf, modelOf } from "./measures.js";
import { once } from "./once.js";
import { domain, roundStep } from "./scales.js";
import { spearman } from "./statistics.js";

/**
 * The range of an axis: that of the colours, widened to hold the intervals; categories from -0.5.
 * @returns {number[]}
 */
export const reach = once((measure) => {
  if (measure.scale === "category") return [-0.5, measure.categories.length - 0.5];
  const range = domain(measure) ?? [0, 1];
  const known = measure.value.filter((one) => one !== null);
  const ends = measure.value.map((_, index) => intervalOf(measure, index)).filter(Boolean).flat();
  const nulls = Array.isArray(measure.null) ? measure.null.filter((one) => one !== null) : [];
  const all = [...known, ...ends, ...nulls, ...(typeof measure.null === "number" ? [measure.null] : [])];
  if (all.length === 0) return range;
  let [low, high] = [Math.min(...all), Math.max(...all)];
  const step = roundStep((high - low || Math.abs(high) || 1) / 10);
  [low, high] = [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
  return low < high ? [low, high] : [low - step, high + step];
});

/**
 * Where a head stands along an axis; within a category heads are spread in their order.
 * @returns {number|null}
 */
export function along(measure, index) {
  const one = measure.value[index];
  if (one === null || measure.scale !== "category") return one;
  const same = measure.value.map((_, other) => other).filter((other) => measure.value[other] === one);
  return one + (same.length > 1 ? (0.6 * same.indexOf(index)) / (same.length - 1) - 0.3 : 0);
}

/** The number of each head's layer, or its type of attention where there are several, as if it were a measure. */
export const placeOf = once((model) => {
  const layers = Array.from({ length: model.n_layers * model.n_heads }, (_, index) => layerOf(model, index));
  const about = model.types
    ? { id: "type", title: "Type of attention", scale: "category", categories: model.types.map(({ title }) => title) }
    : { id: "layer", title: "Layer", scale: "sequential", categories: null, range: [1, Math.max(2, model.n_layers)] };
  return {
    ...about, unit: "", decimals: 0, better: null, label: null,
    value: layers.map(({ type, layer }) => (type ? model.types.indexOf(type) : layer)),
    null: null, null_title: null, low: null, high: null, n: null, p: null,
  };
});

/**
 * The correlation in words, over all heads and, with a filter or a selection, over those.
 * @param {object} x
 * @param {object} y
 * @param {{passes: boolean[], selected: Set<number>}} heads
 * @returns {string}
 */
export function correlation(x, y, { passes, selected }) {
  if (x.scale === "category" || y.scale === "category") return "No correlation: categories have no order.";
  const over = (keep) => spearman(...[x, y].map(({ value }) => value.map((one, index) => (keep(index) ? one : null))));
  const text = ({ rho, n }) =>
    rho === null ? `not defined over ${plural(n, "head")}` : `${number(rho, 2)} over ${plural(n, "head")}`;
  const parts = [`Spearman correlation ${text(over(() => true))}`];
  if (passes.includes(false)) parts.push(`${text(over((index) => passes[index]))} that pass`);
  if (selected.size) parts.push(`${text(over((index) => selected.has(index)))} selected`);
  return `${parts.join("; ")}.`;
}

/** The measures of both axes and of the colours, as the address names them; colour: null for the layers. */
export function axesOf(atlas, state) {
  const model = modelOf(atlas, state);
  const [measure, measures] = [measureOf(atlas, state), measuresOf(atlas, model)];
  const y = findMeasure(atlas, model, state.y) ?? (measure.scale === "category" ? measures[0] : measure);
  const x = findMeasure(atlas, model, state.x) ?? measures.find((one) => one.id !== y.id) ?? y;
  return { y, x, colour: findMeasure(atlas, model, state.colour) ?? null };
}
