/** Where a head stands among the heads of its model, and what it is best at. */

import { beats, hatched, intervalOf, known, ranks } from "./measures.js";

/**
 * Where head i stands at a measure, or null where its value is unknown or a category.
 *
 * Rank 1 is the best value where the measure states what is better, else the highest. Heads of equal
 * value share a rank. `overlapping` counts the other heads whose intervals overlap this one's.
 * @param {object} measure
 * @param {number} i
 * @returns {{rank: number, of: number, tied: number, overlapping: number|null}|null}
 */
export function standing(measure, i) {
  const rank = ranks(measure)[i] ?? null;
  if (rank === null) return null;
  const tied = measure.value.filter((value) => value === measure.value[i]).length - 1;
  return { rank, of: known(measure), tied, overlapping: overlapping(measure, i) };
}

function overlapping(measure, i) {
  const own = intervalOf(measure, i);
  if (!own) return null;
  const overlaps = (other) => other !== null && other[0] <= own[1] && other[1] >= own[0];
  return measure.value.filter((_, j) => j !== i && overlaps(intervalOf(measure, j))).length;
}

/**
 * The measures at which head i is among the first tenth of the heads, the highest ranks first.
 *
 * Only measures at which the head is on the better side of the baseline, by its interval or test.
 * @param {object[]} measures  of one model
 * @param {number} i
 * @returns {{measure: object, standing: object}[]}
 */
export function bestAt(measures, i) {
  return measures
    .filter((measure) => beats(measure, i))
    .map((measure) => ({ measure, standing: standing(measure, i) }))
    .filter(({ standing: { rank, of } }) => rank <= Math.max(1, Math.ceil(of / 10)))
    .sort((a, b) => a.standing.rank / a.standing.of - b.standing.rank / b.standing.of);
}

/**
 * The measures without a better side at which head i has the highest or the lowest value of all.
 *
 * Not those of tasks, and not places in a plane, which have no order.
 * @param {object[]} measures  of one model
 * @param {number} i
 * @returns {{measure: object, which: "highest"|"lowest"}[]}
 */
export function extremes(measures, i) {
  return measures.flatMap((measure) => {
    const place = standing(measure, i);
    if (!place || measure.better || measure.task !== null || measure.scale !== "sequential") return [];
    if (place.tied > 0 || place.of < 2 || hatched(measure, i)) return [];
    if (place.rank === 1) return [{ measure, which: "highest" }];
    return place.rank === place.of ? [{ measure, which: "lowest" }] : [];
  });
}

/** Whether a measure's data were annotated by a parser or generated, as its text states; else null. */
export function provenance({ about }) {
  const generated = /\(generated\)/.test(about) ? "generated data among them" : "generated data";
  const words = [/\bsilver\b/i.test(about) && "silver annotation", /\bgenerated\b/i.test(about) && generated];
  return words.filter(Boolean).join(", ") || null;
}

/**
 * What a head is best at: sentences that state ranks and no more, with the numbers behind each.
 * @param {{label: string, model: string, measures: object[], i: number, write: function}} head
 *   write(measure, i) is a value with its unit, interval, n and null
 * @returns {{sentence: string, numbers: string[]}[]}
 */
export function statements({ label, model, measures, i, write }) {
  const best = bestAt(measures, i);
  const ofText = best.filter(({ measure }) => measure.task === null);
  const ofTasks = best.filter(({ measure }) => measure.task !== null);
  const judged = measures.filter((measure) => measure.better && (measure.null !== null || measure.p));
  const found = [];
  const rank = (opening, members) => {
    const numbers = members.map((member) => behind(member, i, write));
    found.push({ sentence: `${opening} ${label} ranks ${ranked(members)}.`, numbers });
  };
  if (ofText.length > 0) rank(`Among the heads of ${model},`, ofText);
  if (ofTasks.length > 0) rank("On tasks,", ofTasks);
  if (best.length === 0 && judged.length > 0) {
    const sentence = `On none of the ${judged.length} measures with a better side is ${label} both better than the baseline and in the top tenth.`;
    found.push({ sentence, numbers: [] });
  }
  const extreme = extremes(measures, i);
  if (extreme.length > 0) {
    const parts = extreme.map(({ measure, which }) => `the ${which} value of ${measure.title}`);
    const numbers = extreme.map(({ measure }) => `${measure.title}: ${write(measure, i)}`);
    found.push({ sentence: `Of all heads, ${label} has ${list(parts)}.`, numbers });
  }
  return found;
}

function ranked(best) {
  return list(best.map(({ measure, standing: { rank, of } }) => `${ordinal(rank)} of ${of} at ${measure.title}`));
}

function behind({ measure, standing: { overlapping: others } }, i, write) {
  const notes = [write(measure, i), provenance(measure)];
  if (others) notes.push(`${others} other ${others === 1 ? "head's interval overlaps" : "heads' intervals overlap"} its own`);
  return `${measure.title}: ${notes.filter(Boolean).join("; ")}`;
}

/**
 * 1st, 2nd, 3rd, 4th, 11th, 21st.
 * @param {number} rank
 * @returns {string}
 */
function ordinal(rank) {
  const teen = rank % 100 >= 11 && rank % 100 <= 13;
  const ending = teen ? "th" : ["th", "st", "nd", "rd"][rank % 10] ?? "th";
  return `${rank}${ending}`;
}

function list(parts) {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
