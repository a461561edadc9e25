import assert from "node:assert/strict";
import { test } from "node:test";

import {
  formatFilters, parseFilters, passing, withFilter,
} from "../../../workflow_scripts/atlas/page/lib/filters.js";

const MODEL = { name: "m", n_layers: 2, n_heads: 2 };
const BASE = { model: "m", unit: "%", decimals: 0, scale: "sequential", null: null, low: null, high: null, p: null, categories: null };
const ATLAS = {
  measures: [
    { ...BASE, id: "syntax.dobj", title: "dobj", better: "high", value: [60, 61, null, 80], null: 50, low: [40, 55, null, 70], high: [70, 65, null, 90] },
    { ...BASE, id: "class", title: "Class", scale: "category", value: [0, 1, 1, null], categories: ["block", "vertical"] },
  ],
};
const of = (text) => passing(ATLAS, MODEL, parseFilters(text));

test("filters combine, by category and by hatching, too", () => {
  assert.deepEqual(of("class:1"), [false, true, true, false]);
  assert.deepEqual(of("syntax.dobj!"), [false, true, false, true]);
  assert.deepEqual(of("syntax.dobj!,class:1"), [false, true, false, false]);
  assert.deepEqual(of("nothing:1"), [false, false, false, false]);
  assert.deepEqual(of(""), [true, true, true, true]);
});

test("what is written is read again, and what is malformed is left out", () => {
  const text = "class:1,a_b-c:12,x!";
  assert.equal(formatFilters(parseFilters(text)), text);
  assert.deepEqual(parseFilters("nothing:x,:,entropy.all,a:,a!3,a=3,a>5,a:1.2,<b>,a:5"), [{ id: "a", op: ":", value: 5 }]);
  assert.deepEqual(parseFilters(undefined), []);
});

test("a new filter takes the place of one of the same measure and kind", () => {
  const filters = parseFilters("a:1,a!,b:2");
  assert.equal(formatFilters(withFilter(filters, { id: "a", op: ":", value: 3 })), "a!,b:2,a:3");
});

test("a head below the baseline does not pass where above it is better", () => {
  const worse = { ...ATLAS.measures[0], value: [30, 61, null, 80], low: [20, 55, null, 70], high: [40, 65, null, 90] };
  const passes = (measure) => passing({ measures: [measure] }, MODEL, parseFilters("syntax.dobj!"));
  assert.deepEqual(passes(worse), [false, true, false, true]);
  assert.deepEqual(passes({ ...worse, better: null }), [true, true, false, true]);
  assert.deepEqual(passes({ ...worse, low: null, high: null }), [false, false, false, false]); // nothing decides it
});
