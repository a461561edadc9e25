import assert from "node:assert/strict";
import { test } from "node:test";

import {
  apart,
  furthestFirst,
  inDeviations,
  pairs,
} from "../../../workflow_scripts/atlas/page/lib/pairs.js";

const M = { name: "m" };
const measure = (id, state, task, title = id, model = "m") => ({ id, model, paper: "kovaleva2019", state, task, title });
const atlas = {
  measures: [
    measure("entropy.all", "pretrained", null),
    measure("kinds.sst2.pretrained.noun", "pretrained", "sst2", "Nouns, SST-2, pretrained"),
    measure("kinds.mnli.pretrained.noun", "pretrained", "mnli", "Nouns, MNLI, pretrained"),
    measure("kinds.sst2.1.noun", "sst2.1", "sst2", "Nouns, SST-2, fine-tuned"),
    measure("kinds.sst2.1.verb", "sst2.1", "sst2", "Verbs, SST-2, fine-tuned"),
    measure("entropy.all", "pretrained", null, "Entropy", "other"),
  ],
};
const ids = (found) => found.pairs.map(({ a, b }) => [a.id, b.id]);

test("two heads of one state share all measures", () => {
  const found = pairs(atlas, { model: M, index: 0, state: "pretrained" }, { model: M, index: 1, state: "pretrained" });
  assert.equal(found.pairs.length, 5);
  assert.ok(found.pairs.every(({ a, b }) => a === b));
  assert.equal(found.alone, 0);
});

test("two models share measures by their ids", () => {
  const found = pairs(atlas, { model: M, index: 0, state: "pretrained" }, { model: { name: "other" }, index: 0, state: "pretrained" });
  assert.deepEqual(ids(found), [["entropy.all", "entropy.all"]]);
  assert.equal(found.pairs[0].b.model, "other");
  assert.equal(found.alone, 4);
});

test("two states share what was measured in both, in either order", () => {
  const [before, after] = ["pretrained", "sst2.1"].map((state) => ({ model: M, index: 0, state }));
  const found = pairs(atlas, before, after);
  assert.deepEqual(ids(found), [["kinds.sst2.pretrained.noun", "kinds.sst2.1.noun"]]);
  assert.equal(found.pairs[0].title, "Nouns, SST-2");
  assert.equal(found.alone, 3);
  assert.deepEqual(ids(pairs(atlas, after, before)), [["kinds.sst2.1.noun", "kinds.sst2.pretrained.noun"]]);
});

test("differences, and whether intervals overlap", () => {
  const pair = {
    a: { scale: "sequential", value: [5, null], low: [4, null], high: [6, null] },
    b: { scale: "sequential", value: [1, 2], low: [0, 1], high: [4, 3] },
  };
  assert.deepEqual(apart(pair, 0, 0), { difference: -4, overlap: true }); // 4 to 6 and 0 to 4 share 4
  assert.deepEqual(apart(pair, 0, 1), { difference: -3, overlap: false });
  assert.deepEqual(apart(pair, 1, 0), { difference: null, overlap: null });
  const category = { a: { ...pair.a, scale: "category" }, b: pair.b };
  assert.deepEqual(apart(category, 0, 0), { difference: null, overlap: null });
  assert.deepEqual(apart({ a: { ...pair.a, low: null }, b: pair.b }, 0, 0), { difference: -4, overlap: null });
});

test("differences in standard deviations over the heads, and their order", () => {
  const a = { value: [1, 3, null, 5, 7] }; // mean 4, squares 9, 1, 1, 9: variance 5
  const b = { value: [2, 4, 4, 6] }; // mean 4, squares 4, 0, 0, 4: variance 2
  assert.equal(inDeviations({ a, b: a }, 5), Math.sqrt(5));
  assert.equal(inDeviations({ a, b }, -7), -7 / Math.sqrt(3.5));
  assert.equal(inDeviations({ a, b }, null), null);
  const equal = { value: [2, 2] };
  assert.equal(inDeviations({ a: equal, b: equal }, 0), null);
  const rows = [0.5, null, -2, 1, null].map((deviations, id) => ({ id, deviations }));
  assert.deepEqual(furthestFirst(rows).map(({ id }) => id), [2, 3, 0, 1, 4]);
});
