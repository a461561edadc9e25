import assert from "node:assert/strict";
import { test } from "node:test";

import { layerMeans, listed, mean } from "../../../workflow_scripts/atlas/page/lib/statistics.js";

const MODEL = { n_layers: 2, n_heads: 3 };
const MEASURE = { value: [1, 5, 3, null, 2, 2], scale: "sequential", better: null };

test("means of layers leave out what is unknown", () => {
  assert.deepEqual(layerMeans(MEASURE, MODEL), [3, 2]);
  assert.equal(mean([null]), null);
});

test("a list begins with the best, unknown ones last", () => {
  assert.deepEqual(listed({ ...MEASURE, better: "low" }), [0, 4, 5, 2, 1, 3]);
  assert.deepEqual(listed(MEASURE), [1, 2, 4, 5, 0, 3]);
});
