/**
 * Filters and selections of heads, as the address carries them.
 *
 * `syntax.dobj>60` passes heads whose value is above 60, `<` below, `patterns.class:2` those of category 2,
 * `syntax.dobj!` those that are better than the baseline, or differ from it, `@induction` those with that role. Several
 * are joined by commas, and a head passes when it passes all. A head without a value does not pass.
 */

import { findMeasure, headIndex, headName, holds, oneSided, withUnit } from "./measures.js";
import { findBadge } from "./roles.js";

const FILTER = /^([A-Za-z0-9._-]+)([<>:!])(-?[\d.]+(?:e-?\d+)?)?$/;
const ROLE = /^@([A-Za-z0-9._-]+)$/;

/**
 * @param {string|undefined} text
 * @returns {{id: string, op: string, value: number|null}[]}  malformed parts are left out
 */
export function parseFilters(text) {
  return partsOf(text).map(parsed).filter(Boolean);
}

/** The parts of a filter that are malformed. */
export function malformed(text) {
  return partsOf(text).filter((part) => !parsed(part));
}

function partsOf(text) {
  return (text ?? "").split(",").filter(Boolean);
}

function parsed(part) {
  const [, role] = ROLE.exec(part) ?? [];
  if (role) return { id: role, op: "@", value: null };
  const [, id, op, value] = FILTER.exec(part) ?? [];
  const whole = op === "!" ? !value : Number.isFinite(Number(value ?? NaN));
  return whole ? { id, op, value: op === "!" ? null : Number(value) } : null;
}

/** The filters as the address has them. */
export function formatFilters(filters) {
  return filters.map(({ id, op, value }) => (op === "@" ? `@${id}` : `${id}${op}${op === "!" ? "" : value}`)).join(",");
}

/** The filters with one more, which takes the place of one of the same measure and direction. */
export function withFilter(filters, filter) {
  return [...filters.filter(({ id, op }) => id !== filter.id || op !== filter.op), filter];
}

/**
 * Which heads pass all filters.
 * @returns {boolean[]}  for each head; a filter on a measure or a role that the model lacks passes none
 */
export function passing(atlas, model, filters) {
  const tests = filters.map((filter) => (filter.op === "@" ? role(model, filter) : test(findMeasure(atlas, model, filter.id), filter)));
  return Array.from({ length: model.n_layers * model.n_heads }, (_, index) => tests.every((one) => one(index)));
}

function role(model, { id }) {
  const heads = new Set(findBadge(model, id)?.heads);
  return (index) => heads.has(index);
}

function test(measure, { op, value }) {
  if (!measure) return () => false;
  return (index) => {
    const one = measure.value[index];
    if (one === null) return false;
    if (op === ">") return one > value;
    if (op === "<") return one < value;
    return op === ":" ? one === value : holds(measure, index) === true;
  };
}

/** A filter in words: "dobj above 60%". */
export function filterWords(atlas, model, { id, op, value }) {
  if (op === "@") return `Role: ${findBadge(model, id)?.title ?? `${id}, which no head of this model can have`}`;
  const measure = findMeasure(atlas, model, id);
  if (!measure) return `${id}: not measured for this model`;
  if (op === "!") return `${measure.title} ${oneSided(measure) ? "better than" : "different from"} the baseline`;
  if (op === ":") return `${measure.title}: ${measure.categories?.[value] ?? value}`;
  return `${measure.title} ${op === ">" ? "above" : "below"} ${withUnit({ ...measure, decimals: places(value) }, value)}`;
}

function places(value) {
  return (String(value).split(".")[1] ?? "").length;
}

/** The heads of "3-7,3-8" as a set of indices; heads that the model has not are left out. */
export function parseHeads(model, text) {
  return new Set((text ?? "").split(",").map((name) => headIndex(model, name)).filter((index) => index >= 0));
}

/** The inverse of `parseHeads`, in the order of the heads. */
export function formatHeads(model, indices) {
  return [...indices].sort((a, b) => a - b).map((index) => headName(model, index)).join(",");
}
