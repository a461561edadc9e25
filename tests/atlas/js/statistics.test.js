import assert from "node:assert/strict";
import { test } from "node:test";

import { layerCounts, layerMeans, listed, mean } from "../../../workflow_scripts/atlas/page/lib/statistics.js";

const MODEL = { n_layers: 2, n_heads: 3 };
const MEASURE = { value: [1, 5, 3, null, 2, 2], scale: "sequential", better: null, low: [0, 1, 2, null, 1, 0], n: 4, p: null, null: null };

test("means of layers leave out what is unknown", () => {
  assert.deepEqual(layerMeans(MEASURE, MODEL), [3, 2]);
  assert.equal(mean([null]), null);
  const classes = { value: [0, 1, 1, null, 1, 0], categories: ["a", "b", "c"] };
  assert.deepEqual(layerCounts(classes, MODEL), [[1, 2, 0], [1, 1, 0]]);
});

test("a list by any column, unknown ones last, in both directions", () => {
  assert.deepEqual(listed(MEASURE, "value"), [0, 4, 5, 2, 1, 3]);
  assert.deepEqual(listed(MEASURE, "-value"), [1, 2, 4, 5, 0, 3]);
  assert.deepEqual(listed(MEASURE, "-head"), [5, 4, 3, 2, 1, 0]);
  assert.deepEqual(listed(MEASURE, "low"), [0, 5, 1, 4, 2, 3]);
  assert.deepEqual(listed(MEASURE, "n"), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(listed({ ...MEASURE, label: ["b", "a", "c", "a", "b", "c"] }, "label"), [1, 3, 0, 4, 2, 5]);
});
