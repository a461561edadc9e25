import assert from "node:assert/strict";
import { test } from "node:test";

import { correlation } from "../../../workflow_scripts/atlas/page/lib/cloud.js";
import { headMeans, layerCounts, layerMeans, listed, mean, meanRanks, ordered, spearman } from "../../../workflow_scripts/atlas/page/lib/statistics.js";

const MODEL = { n_layers: 2, n_heads: 3 };
const MEASURE = { value: [1, 5, 3, null, 2, 2], scale: "sequential", better: null, low: [0, 1, 2, null, 1, 0], n: 4, p: null, null: null };

test("means of layers and of heads leave out what is unknown", () => {
  assert.deepEqual(layerMeans(MEASURE, MODEL), [3, 2]);
  assert.deepEqual(headMeans(MEASURE, MODEL), [1, 3.5, 2.5]);
  assert.equal(mean([null]), null);
  const classes = { value: [0, 1, 1, null, 1, 0], categories: ["a", "b", "c"] };
  assert.deepEqual(layerCounts(classes, MODEL), [[1, 2, 0], [1, 1, 0]]);
});

test("heads within layers, by number or the best first", () => {
  assert.deepEqual(ordered(MEASURE, MODEL, false), [[0, 1, 2], [3, 4, 5]]);
  assert.deepEqual(ordered(MEASURE, MODEL, true), [[1, 2, 0], [4, 5, 3]]);
  assert.deepEqual(ordered({ ...MEASURE, better: "low" }, MODEL, true), [[0, 2, 1], [4, 5, 3]]);
});

test("a list by any column, unknown ones last, in both directions", () => {
  assert.deepEqual(listed(MEASURE, "value"), [0, 4, 5, 2, 1, 3]);
  assert.deepEqual(listed(MEASURE, "-value"), [1, 2, 4, 5, 0, 3]);
  assert.deepEqual(listed(MEASURE, "-head"), [5, 4, 3, 2, 1, 0]);
  assert.deepEqual(listed(MEASURE, "low"), [0, 5, 1, 4, 2, 3]);
  assert.deepEqual(listed(MEASURE, "n"), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(listed({ ...MEASURE, label: ["b", "a", "c", "a", "b", "c"] }, "label"), [1, 3, 0, 4, 2, 5]);
});

test("equal values share their mean rank", () => {
  assert.deepEqual(meanRanks([30, 10, 20, 10]), [4, 1.5, 3, 1.5]);
  assert.deepEqual(meanRanks([]), []);
});

test("Spearman's correlation by hand", () => {
  // Without ties 1 - 6 * sum of squared differences / (n (n^2 - 1)): differences 0 1 1 0 0, so 1 - 12 / 120.
  const near = spearman([1, 2, 3, 4, 5], [10, 30, 20, 40, 50]);
  assert.ok(Math.abs(near.rho - 0.9) < 1e-12);
  assert.equal(near.n, 5);
  assert.equal(spearman([1, 2, 3], [9, 8, 1]).rho, -1);
  // With ties: ranks 1 2.5 2.5 4 and 1 2 3 4; covariance 4.5, variances 4.5 and 5.
  assert.ok(Math.abs(spearman([1, 2, 2, 3], [1, 2, 3, 4]).rho - 4.5 / Math.sqrt(22.5)) < 1e-12);
  assert.deepEqual(spearman([1, null, 3, 4], [1, 2, null, 0]), { rho: -1, n: 2 });
  assert.deepEqual(spearman([1, 1, 1], [1, 2, 3]), { rho: null, n: 3 });
  assert.deepEqual(spearman([null], [1]), { rho: null, n: 0 });
});

test("the correlation in words states over how many heads it is", () => {
  const [x, y] = [{ value: [1, 2, 3, null], scale: "sequential" }, { value: [3, 2, 1, 0], scale: "sequential" }];
  const heads = { passes: [true, true, false, true], selected: new Set([0]) };
  assert.equal(
    correlation(x, y, heads),
    "Spearman correlation −1.00 over 3 heads; −1.00 over 2 heads that pass; not defined over 1 head selected.",
  );
  assert.match(correlation(x, { ...y, scale: "category" }, heads), /^No correlation/);
});
