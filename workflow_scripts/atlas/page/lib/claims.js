/** The claims that the study judged: by paper, and where their numbers lie on an axis. */

import { capital } from "./format.js";

const ON_AXIS = ["ours", "ci_low", "ci_high", "paper_value", "rule_low", "rule_high", "reference", "untrained_low", "untrained_high"];
const ROOM = 0.08; // of the axis, left free at either end
const DIFFERS = "differs from case to case";

/**
 * A model's claims by paper, their cases together; in each paper those with a verdict first, central ones in their order.
 * @param {object[]} claims  a row for each case
 * @param {string} model
 * @param {boolean} central  or all others
 * @returns {{paper: string, claims: {id: string, cases: object[]}[]}[]}
 */
export function byPaper(claims, model, central) {
  const own = claims.filter((row) => row.model === model && (row.central > 0) === central);
  const grouped = [...Map.groupBy(own, ({ id }) => id)].map(([id, cases]) => ({ id, cases }));
  const papers = Map.groupBy(grouped, ({ cases }) => cases[0].paper);
  const place = ({ cases }) => (cases.every(untested) ? 1000 : 0) + (cases[0].central ?? 0);
  return [...papers].map(([paper, members]) => ({ paper, claims: members.toSorted((a, b) => place(a) - place(b)) }));
}

function untested({ badge }) {
  return badge === "none";
}

/**
 * How many claims have which verdict, the most first; a claim with several cases counts once, by those that are tested.
 * @param {{cases: object[]}[]} claims
 * @returns {[string, number][]}
 */
export function counted(claims) {
  const found = new Map();
  for (const { cases } of claims) {
    const tested = cases.filter((row) => !untested(row));
    const verdicts = [...new Set((tested.length > 0 ? tested : cases).map(({ verdict }) => verdict))];
    const verdict = verdicts.length === 1 ? verdicts[0] : DIFFERS;
    found.set(verdict, (found.get(verdict) ?? 0) + 1);
  }
  return [...found].toSorted(([, a], [, b]) => b - a);
}

/**
 * The axis of a claim, on which all of its cases' numbers have room; null where no case has a number.
 * @param {object[]} cases
 * @returns {{low: number, high: number, place: function}|null}  place(value): 0 to 1; low and high: outermost numbers
 */
export function axisOf(cases) {
  const numbers = cases.flatMap((row) => ON_AXIS.map((name) => row[name]).filter((value) => value !== undefined));
  if (!cases.some(({ ours }) => ours !== undefined)) return null;
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const room = ((high - low) * ROOM) / (1 - 2 * ROOM) || 1;
  return { low, high, place: (value) => (value - low + room) / (high - low + 2 * room) };
}

/** A number to three digits, with a true minus. */
export function short(value) {
  const text = Math.abs(value) < 999.5 ? String(Number(value.toPrecision(3))) : value.toFixed(0);
  return text.replace("-", "−");
}

/** Our number with its interval and unit: "2.08 (2.01 to 2.17) %"; empty where there is none. */
export function ourNumber({ ours, ci_low: low, ci_high: high, unit }) {
  if (ours === undefined) return "";
  const interval = low === undefined || low === high ? "" : ` (${short(low)} to ${short(high)})`;
  return `${short(ours)}${interval} ${unit}`;
}

/** The paper's side of a claim: where it stands, the rule and the paper's number. */
export function paperSide({ place, rule, paper_value: value, paper_model: model, source }) {
  const theirs = value === undefined ? null : `${model ?? "The paper"}: ${short(value)}`;
  return [place && capital(place), `Rule: ${rule}`, theirs, source && capital(source)].filter(Boolean).join(". ");
}
