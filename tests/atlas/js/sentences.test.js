import assert from "node:assert/strict";
import { test } from "node:test";

import { directionOf, keptOf, sentencesOf, shareOf } from "../../../workflow_scripts/atlas/page/lib/sentences.js";

const PAIR = ["a", null, "b", "b"]; // word, separator, word, word

test("a pair has words on both sides of a separator in its middle", () => {
  assert.deepEqual(sentencesOf({ word: [-1, 0, 1, 1, -1, 2, -1] }), [null, "a", "a", "a", null, "b", null]);
  // RoBERTa has two separators, and XLNet's special tokens are at the end.
  assert.deepEqual(sentencesOf({ word: [-1, 0, -1, -1, 1, -1] }), [null, "a", null, null, "b", null]);
  assert.deepEqual(sentencesOf({ word: [0, -1, 1, -1, -1] }), ["a", null, "b", null, null]);
});

test("one sentence, three, none, and a translation are not a pair", () => {
  assert.equal(sentencesOf({ word: [-1, 0, 1, -1] }), null);
  assert.equal(sentencesOf({ word: [0, -1, 1, -1, 2] }), null);
  assert.equal(sentencesOf({ word: [-1, -1] }), null);
  assert.equal(sentencesOf({ word: [0, -1, 1, -1], target: { tokens: ["x"], word: [0] } }), null);
});

test("a direction that is not known is all tokens", () => {
  assert.equal(directionOf(PAIR, "ba"), "ba");
  assert.equal(directionOf(PAIR, "xy"), "");
  assert.equal(directionOf(PAIR, undefined), "");
  assert.equal(directionOf(null, "ab"), "");
});

test("the weights of a direction, by query and key", () => {
  const cells = (direction) => keptOf(PAIR, direction).flatMap((kept, index) => (kept ? [index] : []));
  assert.deepEqual(cells("ab"), [2, 3]);
  assert.deepEqual(cells("ba"), [8, 12]);
  assert.deepEqual(cells("aa"), [0]);
  assert.deepEqual(cells("bb"), [10, 11, 14, 15]);
  assert.equal(keptOf(PAIR, ""), null);
  assert.equal(keptOf(null, "ab"), null);
});

test("the share of the attention of one sentence that goes to another, by hand", () => {
  const map = Float32Array.from([
    0.5, 0, 0.25, 0.25,
    1, 0, 0, 0,
    0.5, 0.25, 0.25, 0,
    0.25, 0.25, 0, 0.5,
  ]);
  assert.equal(shareOf(map, PAIR, "ab"), 0.5); // one query
  assert.equal(shareOf(map, PAIR, "ba"), 0.375); // (0.5 + 0.25) / 2
  assert.equal(shareOf(map, PAIR, "bb"), 0.375); // (0.25 + 0.5) / 2
});
