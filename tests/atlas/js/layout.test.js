import assert from "node:assert/strict";
import { test } from "node:test";

import { along, reach } from "../../../workflow_scripts/atlas/page/lib/cloud.js";
import { between, corner, layout, slotAt, slotOf } from "../../../workflow_scripts/atlas/page/lib/layout.js";

const MODEL = { n_layers: 3, n_heads: 4 };
const ORDER = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]];

test("layer 1 is at the bottom, and a place is found again", () => {
  const place = layout(600, MODEL, false);
  assert.ok(corner([0, 0], place)[1] > corner([2, 0], place)[1]);
  for (let row = 0; row < 3; row++) {
    for (let column = 0; column < 4; column++) {
      const [x, y] = corner([row, column], place);
      assert.deepEqual(slotAt({ x: x + 3, y: y + 3 }, place, MODEL), [row, column]);
    }
  }
  assert.deepEqual(slotAt({ x: -50, y: -50 }, place, MODEL), [2, 0]);
  assert.deepEqual(slotAt({ x: 9999, y: 9999 }, place, MODEL), [0, 3]);
});

test("the picture fits the width it has, for models of any size", () => {
  for (const width of [300, 366, 700, 900]) {
    for (const [layers, heads] of [[2, 1], [6, 12], [12, 12], [24, 16]]) {
      const place = layout(width, { n_layers: layers, n_heads: heads }, true);
      assert.ok(place.width <= width, `${width} ${layers} ${heads}`);
      assert.ok(place.cell.every((size) => size >= 12));
    }
  }
});

test("the heads between two cells, whichever comes first", () => {
  assert.deepEqual(between([0, 1], [1, 2], ORDER), [1, 2, 5, 6]);
  assert.deepEqual(between([1, 2], [0, 1], ORDER), [1, 2, 5, 6]);
  assert.deepEqual(between([2, 0], [2, 0], ORDER), [8]);
  assert.deepEqual(slotOf(6, ORDER), [1, 2]);
  assert.equal(slotOf(12, ORDER), null);
});

test("an axis of a scatter plot holds the intervals and nulls; categories are spread", () => {
  const measure = { value: [1, 2, null], low: [-3, 1, null], high: [2, 9.5, null], null: null, scale: "sequential" };
  assert.deepEqual(reach(measure), [-4, 10]);
  assert.deepEqual(reach({ ...measure, null: 31 }), [-5, 35]);
  assert.deepEqual(reach({ value: [null], low: null, high: null, null: null, scale: "sequential" }), [0, 1]);
  const classes = { value: [1, 0, 1, null], categories: ["a", "b"], scale: "category" };
  assert.deepEqual(reach(classes), [-0.5, 1.5]);
  assert.deepEqual([0, 1, 2, 3].map((index) => along(classes, index)), [0.7, 0, 1.3, null]);
});
