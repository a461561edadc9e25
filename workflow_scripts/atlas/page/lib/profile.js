/** Where a head stands among the heads of its model, and what it is best at. */

import { beats, known, ranks } from "./measures.js";

/**
 * Where head i stands at a measure, or null where its value is unknown or a category.
 *
 * Rank 1 is the best value where the measure states what is better, else the highest. Heads of equal
 * value share a rank.
 * @param {object} measure
 * @param {number} i
 * @returns {{rank: number, of: number, tied: number}|null}
 */
export function standing(measure, i) {
  const rank = ranks(measure)[i] ?? null;
  if (rank === null) return null;
  const tied = measure.value.filter((value) => value === measure.value[i]).length - 1;
  return { rank, of: known(measure), tied };
}

/**
 * The measure that a head's card begins with, then those at which head i is among the first tenth of the heads and on
 * the better side of the baseline, by its interval or test, the highest ranks first.
 * @param {object[]} measures  of one model
 * @param {number} i
 * @param {object} [leading]
 * @returns {object[]}
 */
export function bestAt(measures, i, leading) {
  const place = (measure) => standing(measure, i).rank / known(measure);
  const best = measures.filter((measure) => beats(measure, i) && standing(measure, i).rank <= Math.max(1, Math.ceil(known(measure) / 10)));
  return [leading, ...best.filter((measure) => measure !== leading).toSorted((a, b) => place(a) - place(b))].filter(Boolean);
}

/** Whether a measure's data were annotated by a parser or generated, as its text states; else null. */
export function provenance({ about }) {
  const generated = /\(generated\)/.test(about) ? "generated data among them" : "generated data";
  const words = [/\bsilver\b/i.test(about) && "silver annotation", /\bgenerated\b/i.test(about) && generated];
  return words.filter(Boolean).join(", ") || null;
}

