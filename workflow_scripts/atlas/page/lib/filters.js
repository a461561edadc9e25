/**
 * Filters of heads, as the address carries them.
 *
 * `patterns.class:2` passes heads of category 2, `syntax.dobj!` those that are better than the baseline, or differ
 * from it, `@induction` those with that role. Several are joined by commas, and a head passes when it passes all. A
 * head without a value does not pass.
 */

import { findMeasure, holds, oneSided } from "./measures.js";
import { findBadge } from "./roles.js";

const FILTER = /^([A-Za-z0-9._-]+)([:!])(\d+)?$/;
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

/** The filters with one more, which takes the place of one of the same measure and kind. */
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
    return op === ":" ? one === value : holds(measure, index) === true;
  };
}

/** A filter in words: "Kind of head: syntactic". */
export function filterWords(atlas, model, { id, op, value }) {
  if (op === "@") return `Role: ${findBadge(model, id)?.title ?? `${id}, which no head of this model can have`}`;
  const measure = findMeasure(atlas, model, id);
  if (!measure) return `${id}: not measured for this model`;
  if (op === "!") return `${measure.title} ${oneSided(measure) ? "better than" : "different from"} the baseline`;
  return `${measure.title}: ${measure.categories?.[value] ?? value}`;
}
