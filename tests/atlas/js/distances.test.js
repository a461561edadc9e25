import assert from "node:assert/strict";
import { test } from "node:test";

import { fromMaps, fromTable, nearest, place } from "../../../workflow_scripts/atlas/page/lib/distances.js";

test("pairs stand in the upper triangle row by row", () => {
  const n = 5;
  let expected = 0;
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      assert.equal(place(i, j, n), expected);
      assert.equal(place(j, i, n), expected);
      expected++;
    }
  }
  assert.equal(expected, 10);
});

test("distances of one head, and the nearest of them", () => {
  // Pairs 01 02 03 12 13 23.
  const triangle = [0.5, 0.1, 0.3, 0.4, 0.2, 0.1];
  assert.deepEqual(fromTable(triangle, 2, 4), [0.1, 0.4, null, 0.1]);
  assert.deepEqual(nearest(fromTable(triangle, 2, 4), 2), [
    { index: 0, distance: 0.1 },
    { index: 3, distance: 0.1 },
  ]);
  assert.deepEqual(
    nearest([0.2, NaN, null, 0.1], 9).map(({ index }) => index),
    [3, 0],
  );
});

test("distances on one text count heads layer by layer", () => {
  const heads = [[1, 0, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]].map((map) => Float32Array.from(map));
  const maps = { shape: [2, 2, 2, 2], head: (layer, head) => heads[layer * 2 + head] };
  const found = fromMaps(maps, 2);
  assert.equal(found[2], null);
  assert.equal(found[0], 0);
  assert.ok(Math.abs(found[1] - Math.log(2)) < 1e-9);
  assert.deepEqual(
    nearest(found, 3).map(({ index }) => index),
    [0, 3, 1],
  );
});
