import assert from "node:assert/strict";
import { test } from "node:test";

import { filterWords, formatFilters, parseFilters, passing } from "../../../workflow_scripts/atlas/page/lib/filters.js";
import { sentence } from "../../../workflow_scripts/atlas/page/lib/measures.js";
import { badgesAt, sharingWith } from "../../../workflow_scripts/atlas/page/lib/roles.js";
import { measureRows } from "../../../workflow_scripts/atlas/page/lib/rows.js";

const MEASURE = { id: "x", title: "X", model: "m", unit: "", decimals: 0, scale: "sequential", null: null, low: null, high: null, p: null, n: null, value: [1, 2, 3, 4] };
const MODEL = {
  name: "m", n_layers: 2, n_heads: 2,
  badges: [{ id: "induction", title: "Induction", heads: [1, 3] }, { id: "copying", title: "Copying", heads: [3] }],
};
const ATLAS = { measures: [MEASURE] };

test("a head shares keys and values within its layer", () => {
  assert.deepEqual(sharingWith({ n_heads: 6, n_kv_heads: 2 }, 10), [9, 11]);
  assert.deepEqual(sharingWith({ n_heads: 6, n_kv_heads: 2 }, 0), [1, 2]);
  assert.deepEqual(sharingWith({ n_heads: 6 }, 3), []);
});

test("a head has its badges, and a filter keeps the heads that have one", () => {
  assert.deepEqual([0, 1, 3].map((head) => badgesAt(MODEL, head).map(({ id }) => id)), [[], ["induction"], ["induction", "copying"]]);
  const of = (text) => passing(ATLAS, MODEL, parseFilters(text));
  assert.deepEqual(of("@induction"), [false, true, false, true]);
  assert.deepEqual(of("@induction,x:4"), [false, false, false, true]);
  assert.deepEqual(of("@nothing"), [false, false, false, false]);
  assert.equal(formatFilters(parseFilters("@induction,x:4")), "@induction,x:4");
  assert.equal(filterWords(ATLAS, MODEL, parseFilters("@copying")[0]), "Role: Copying");
});

test("what is stated of a head, and its row, have its roles", () => {
  assert.match(sentence(MODEL, { ...MEASURE, better: null }, 3), /roles: Induction, Copying$/);
  assert.deepEqual(measureRows(MODEL, MEASURE).map(({ roles }) => roles), ["", "induction", "", "induction;copying"]);
  assert.ok(!("roles" in measureRows({ ...MODEL, badges: undefined }, MEASURE)[0]));
});
