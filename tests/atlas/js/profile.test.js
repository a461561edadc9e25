import assert from "node:assert/strict";
import { test } from "node:test";

import {
  aboveNull,
  bestAt,
  extremes,
  ordinal,
  sentences,
  standing,
} from "../../../workflow_scripts/atlas/page/lib/profile.js";

const MEASURE = {
  id: "syntax.dobj",
  title: "dobj",
  scale: "sequential",
  better: "high",
  null: 40,
  value: [80, 30, null, 80, 50],
  low: [70, 20, null, 72, 35],
  high: [90, 45, null, 88, 65],
  n: 100,
  p: null,
};
const PLAIN = { title: "entropy", scale: "sequential", better: null, null: null, value: [1, 2, 3, 4, 0.5], low: null, high: null, p: null };

test("ranks count known values, equal values share one", () => {
  assert.deepEqual(standing(MEASURE, 0), { rank: 1, of: 4, tied: 1, overlapping: 1 });
  assert.deepEqual(standing(MEASURE, 4), { rank: 3, of: 4, tied: 0, overlapping: 1 });
  assert.deepEqual(standing(MEASURE, 1), { rank: 4, of: 4, tied: 0, overlapping: 1 });
  assert.equal(standing(MEASURE, 2), null);
  assert.equal(standing({ ...MEASURE, scale: "category" }, 0), null);
  assert.deepEqual(standing({ ...MEASURE, better: "low" }, 1), { rank: 1, of: 4, tied: 0, overlapping: 1 });
  assert.equal(standing(PLAIN, 0).overlapping, null);
});

test("only a value on the better side, with an interval that excludes the null, counts", () => {
  assert.ok(aboveNull(MEASURE, 0));
  assert.ok(!aboveNull(MEASURE, 1)); // below the null
  assert.ok(!aboveNull(MEASURE, 2)); // unknown
  assert.ok(!aboveNull(MEASURE, 4)); // the interval holds the null
  assert.ok(!aboveNull({ ...MEASURE, low: null, high: null }, 0)); // neither interval nor test
  assert.ok(aboveNull({ ...MEASURE, better: "low", low: [null, 20], high: [null, 35] }, 1));
  assert.ok(!aboveNull({ ...MEASURE, better: null }, 0));
});

test("best are the first tenth, highest ranks first", () => {
  const twenty = Array.from({ length: 20 }, (_, value) => 50 + value);
  const wide = { ...MEASURE, value: twenty, low: twenty.map((v) => v - 1), high: twenty.map((v) => v + 1) };
  const ranks = (i) => bestAt([wide], i).map(({ standing: { rank } }) => rank);
  assert.deepEqual(ranks(19), [1]);
  assert.deepEqual(ranks(18), [2]);
  assert.deepEqual(ranks(17), []);
  const other = { ...wide, id: "other", value: twenty.map((v, j) => (j === 18 ? 99 : v)) };
  assert.deepEqual(
    bestAt([wide, other], 18).map(({ measure }) => measure.id),
    ["other", "syntax.dobj"],
  );
});

test("extremes are of measures without a better side", () => {
  assert.deepEqual(extremes([PLAIN, MEASURE], 3).map(({ which }) => which), ["highest"]);
  assert.deepEqual(extremes([PLAIN], 4).map(({ which }) => which), ["lowest"]);
  assert.deepEqual(extremes([PLAIN], 0), []);
  const held = { ...PLAIN, null: 0, low: [0, 0, 0, -1, 0], high: [9, 9, 9, 9, 9] };
  assert.deepEqual(extremes([held], 3), []);
  const tied = { ...PLAIN, value: [4, 2, 3, 4, 1] };
  assert.deepEqual(extremes([tied], 3), []);
});

test("the sentence states rank, value and what is not told apart", () => {
  const say = (i, measures) =>
    sentences({ label: "1-1", model: "m", measures, i, name: ({ title }) => title, write: ({ value }, j) => `${value[j]}` });
  assert.deepEqual(say(0, [MEASURE]), ["Among the heads of m, 1-1 ranks 1st of 4 at dobj (80; 1 other head's interval overlaps)."]);
  assert.match(say(4, [MEASURE])[0], /^1-1 is not among the first tenth of the heads of m at the one measure/);
  assert.deepEqual(say(4, [PLAIN]), ["Of all heads it has the lowest entropy (0.5)."]);
  assert.deepEqual(say(0, [PLAIN]), []);
});

test("ordinals", () => {
  assert.deepEqual([1, 2, 3, 4, 11, 12, 13, 21, 101, 111].map(ordinal), ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "101st", "111th"]);
});
