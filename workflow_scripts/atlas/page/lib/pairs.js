/** What two sides of a comparison have both been measured by, and how far they are apart. */

import { intervalOf, measuresOf } from "./measures.js";
import { once } from "./once.js";

/**
 * The measures that both sides have. A side is {model, index, state}.
 *
 * Two models share measures by their ids. Two states of one model share what was measured in each on
 * the same task: ids that differ only in the state they name ("kinds.sst2.pretrained.noun" and
 * "kinds.sst2.1.noun"). Two heads of one model in one state share all.
 * @param {object} atlas
 * @param {object} a
 * @param {object} b
 * @returns {{pairs: {a: object, b: object, title: string}[], alone: number}}
 *   alone: how many measures of either side have no partner
 */
export function pairs(atlas, a, b) {
  const [ofA, ofB] = [measuresOf(atlas, a.model), measuresOf(atlas, b.model)];
  const states = a.model.name === b.model.name && a.state !== b.state;
  const found = ofA.flatMap((measure) => {
    const partner = ofB.find((other) => (states ? partners(measure, other, a, b) : measure.id === other.id));
    return partner ? [{ a: measure, b: partner, title: commonTitle(measure.title, partner.title) }] : [];
  });
  const used = new Set(found.flatMap((pair) => [pair.a, pair.b]));
  return { pairs: found, alone: new Set([...ofA, ...ofB].filter((measure) => !used.has(measure))).size };
}

function partners(measure, other, a, b) {
  if (measure.state !== a.state || other.state !== b.state || measure.task === null) return false;
  return measure.task === other.task && measure.paper === other.paper && withoutState(measure) === withoutState(other);
}

// "kinds.sst2.pretrained.noun" and "kinds.sst2.1.noun" are both "kinds.sst2.*.noun".
function withoutState({ id, state, task }) {
  const named = state.startsWith(`${task}.`) ? state : `${task}.${state}`;
  return `.${id}.`.replace(`.${named}.`, `.${task}.*.`);
}

/**
 * What two titles begin with: "Attention to nouns, SST-2" of those that end in ", pretrained" and
 * ", fine-tuned"; the first title where that is nothing.
 * @param {string} a
 * @param {string} b
 * @returns {string}
 */
function commonTitle(a, b) {
  if (a === b) return a;
  const [left, right] = [a.split(", "), b.split(", ")];
  const end = left.findIndex((part, index) => part !== right[index]);
  return (end < 0 ? left : left.slice(0, end)).join(", ") || a;
}

/**
 * How far apart two values are.
 * @param {{a: object, b: object}} pair  measures
 * @param {number} i  head of a
 * @param {number} j  head of b
 * @returns {{difference: number|null, overlap: boolean|null}}  b - a; whether their intervals overlap
 */
export function apart({ a, b }, i, j) {
  const [left, right] = [a.value[i], b.value[j]];
  const known = typeof left === "number" && typeof right === "number" && a.scale !== "category";
  const [own, other] = [intervalOf(a, i), intervalOf(b, j)];
  const overlap = known && own && other ? own[0] <= other[1] && other[0] <= own[1] : null;
  return { difference: known ? right - left : null, overlap };
}

const spread = once(({ value }) => {
  const known = value.filter((one) => typeof one === "number");
  const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
  return known.reduce((sum, one) => sum + (one - mean) ** 2, 0) / known.length;
});

/**
 * A difference in standard deviations of the measure over the heads, so that measures of different units can be
 * ordered by one number. Of two measures it is the root of their mean variance.
 * @param {{a: object, b: object}} pair  measures
 * @param {number|null} difference
 * @returns {number|null}  null where it is unknown or all heads are equal
 */
export function inDeviations({ a, b }, difference) {
  const deviation = Math.sqrt((spread(a) + spread(b)) / 2);
  return difference === null || !(deviation > 0) ? null : difference / deviation;
}

/**
 * Rows with the largest absolute `deviations` first; those without one last, in their order.
 * @param {{deviations: number|null}[]} rows
 * @returns {object[]}
 */
export function furthestFirst(rows) {
  const size = ({ deviations }) => (deviations === null ? -1 : Math.abs(deviations));
  return rows.toSorted((a, b) => size(b) - size(a));
}
