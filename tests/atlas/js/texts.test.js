import assert from "node:assert/strict";
import { test } from "node:test";

import { firstWords, textNames, wordsOf } from "../../../workflow_scripts/atlas/page/lib/texts.js";

const text = (id, tokens, word) => ({ id, tokens, word });
const boring = text(
  "sst2-99",
  ["[CLS]", ".", ".", ".", "a", "boring", "affair", "that", "'", "s", "ir", "##k", "##ing", "##", "[SEP]"],
  [-1, 0, 0, 0, 1, 2, 3, 4, 5, 5, 6, 6, 6, 7, -1],
);

test("wordpieces are joined to words, special tokens left out", () => {
  assert.deepEqual(wordsOf(boring), ["...", "a", "boring", "affair", "that", "'s", "irking", "##"]);
});

test("the words of two sentences are counted on, so those at the border stay apart", () => {
  assert.deepEqual(wordsOf(text("p", ["[CLS]", "a", "[SEP]", "##b", "[SEP]"], [-1, 0, -1, 1, -1])), ["a", "##b"]);
});

test("a name is as many whole words as fit", () => {
  assert.equal(firstWords(boring, 100), "... a boring affair that 's irking ##");
  assert.equal(firstWords(boring, 12), "... a boring \u2026");
  assert.equal(firstWords(boring, 13), "... a boring \u2026");
  assert.equal(firstWords(text("x", ["abcdefgh", "i"], [0, 1]), 4), "abcd \u2026");
  assert.equal(firstWords(text("empty-1", ["[CLS]", "[SEP]"], [-1, -1])), "empty-1");
});

test("invisible characters are written out", () => {
  assert.equal(firstWords(text("x", ["\u202eab"], [0])), "\u27e8202E\u27e9ab");
});

test("texts that begin alike have their id, too", () => {
  const names = textNames([text("a-1", ["same"], [0]), text("a-2", ["same"], [0]), text("a-3", ["other"], [0])]);
  assert.deepEqual([...names], [["a-1", "same (a-1)"], ["a-2", "same (a-2)"], ["a-3", "other"]]);
});
