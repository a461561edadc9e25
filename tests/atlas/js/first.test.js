import assert from "node:assert/strict";
import { test } from "node:test";

import { withoutFirst } from "../../../workflow_scripts/atlas/page/lib/first.js";
import { generatedIn, generatedNote } from "../../../workflow_scripts/atlas/page/lib/generated.js";

// Rows of a causal map: the first token sees itself alone, the third gives all to the first.
const MAP = Float32Array.from([1, 0, 0, 0, 0.75, 0.25, 0, 0, 1, 0, 0, 0, 0.5, 0.125, 0.25, 0.125]);

test("without the first token the rest of a row is scaled to sum to 1", () => {
  const { map, empty } = withoutFirst(MAP, 4);
  assert.deepEqual(Array.from(map), [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0.25, 0.5, 0.25]);
  assert.deepEqual(empty, [0, 2]);
});

test("rows that do not sum to 1, as bytes are rounded, are scaled too", () => {
  const { map } = withoutFirst(Float32Array.from([0.5, 0.25, 0.5]), 3);
  assert.deepEqual(Array.from(map).map((weight) => weight.toFixed(4)), ["0.0000", "0.3333", "0.6667"]);
});

test("the last tokens of a text are those that the model generated", () => {
  assert.deepEqual(generatedIn({ tokens: ["a", "b", "c"], generated: 2 }), [false, true, true]);
  assert.deepEqual(generatedIn({ tokens: ["a", "b"] }), [false, false]);
  assert.match(generatedNote({ tokens: ["a", "b", "c"], generated: 2 }), /the 2 tokens .* after the prompt's 1\./);
  assert.equal(generatedNote({ tokens: ["a"] }), null);
});
