/** What two sides of a comparison have both been measured by, and how far they are apart. */

import { intervalOf, measuresOf } from "./measures.js";

/**
 * The measures that both sides have. A side is {model, index, state}.
 *
 * Two models share measures by their ids. Two states of one model share a measure where one title of
 * one group was measured in each. Two heads of one model in one state share all.
 * @param {object} atlas
 * @param {object} a
 * @param {object} b
 * @returns {{pairs: {a: object, b: object}[], alone: number}}  alone: how many measures have no partner
 */
export function pairs(atlas, a, b) {
  const [ofA, ofB] = [measuresOf(atlas, a.model), measuresOf(atlas, b.model)];
  const found = ofA.flatMap((measure) => {
    const partner = ofB.find((other) => partners(measure, other, a, b));
    return partner ? [{ a: measure, b: partner }] : [];
  });
  const used = new Set(found.flatMap((pair) => [pair.a, pair.b]));
  return { pairs: found, alone: new Set([...ofA, ...ofB].filter((measure) => !used.has(measure))).size };
}

function partners(measure, other, a, b) {
  if (a.model.name !== b.model.name || a.state === b.state) return measure.id === other.id;
  const named = ({ paper, group, title, unit }) => [paper, group, title, unit].join("\n");
  return measure.state === a.state && other.state === b.state && named(measure) === named(other);
}

/**
 * How far apart two values are.
 * @param {{a: object, b: object}} pair  measures
 * @param {number} i  head of a
 * @param {number} j  head of b
 * @returns {{difference: number|null, overlap: boolean|null}}  a - b; whether their intervals overlap
 */
export function apart({ a, b }, i, j) {
  const [left, right] = [a.value[i], b.value[j]];
  const known = typeof left === "number" && typeof right === "number" && a.scale !== "category";
  const [own, other] = [intervalOf(a, i), intervalOf(b, j)];
  const overlap = known && own && other ? own[0] <= other[1] && other[0] <= own[1] : null;
  return { difference: known ? left - right : null, overlap };
}

/**
 * a - b for every head, null where one is unknown.
 * @param {(number|null)[]} a
 * @param {(number|null)[]} b
 * @returns {(number|null)[]}
 */
export function differences(a, b) {
  return a.map((value, i) => (typeof value === "number" && typeof b[i] === "number" ? value - b[i] : null));
}

/** Have two models as many layers, and heads in each? */
export function sameShape(a, b) {
  return a.n_layers === b.n_layers && a.n_heads === b.n_heads;
}
