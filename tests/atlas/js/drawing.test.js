import assert from "node:assert/strict";
import { test } from "node:test";

import { lines, runs, strongest } from "../../../workflow_scripts/atlas/page/lib/drawing.js";
import { shortened, shown } from "../../../workflow_scripts/atlas/page/lib/tokens.js";

const MAP = Float32Array.from([0.25, 0.75, 0, 0.5, 0.25, 0.25, 0, 0.0625, 0.9375]);
const pairs = (found) => found.flatMap((level) => level.pairs).sort();

test("lines under the threshold are not drawn", () => {
  const found = lines(MAP, { faintest: 0.1 });
  assert.deepEqual(pairs(found), [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [2, 2]]);
  const half = found.find((level) => level.pairs.some(([query, key]) => query === 0 && key === 0));
  assert.equal(half.opacity, 0.5);
});

test("one token's lines, and hidden tokens", () => {
  assert.deepEqual(pairs(lines(MAP, { faintest: 0.01, only: { query: 2 } })), [[2, 1], [2, 2]]);
  assert.deepEqual(pairs(lines(MAP, { faintest: 0.01, only: { key: 0 } })), [[0, 0], [1, 0]]);
  const hidden = [true, false, false];
  assert.deepEqual(pairs(lines(MAP, { faintest: 0.1, hidden })), [[1, 1], [1, 2], [2, 2]]);
});

test("the strongest links of a token, both ways", () => {
  assert.deepEqual(strongest(MAP, 0, "query", 2), [{ token: 1, weight: 0.75 }, { token: 0, weight: 0.25 }]);
  assert.deepEqual(strongest(MAP, 0, "key", 2), [{ token: 1, weight: 0.5 }, { token: 0, weight: 0.25 }]);
  // Equal weights keep the order of the tokens.
  assert.deepEqual(strongest(MAP, 1, "query", 3).map(({ token }) => token), [0, 1, 2]);
});

test("neighbouring cells of one colour are one run", () => {
  assert.deepEqual(runs(["w", "r", "r", "b", "w", "w", "r"], "w"), [
    { start: 1, length: 2, colour: "r" },
    { start: 3, length: 1, colour: "b" },
    { start: 6, length: 1, colour: "r" },
  ]);
});

test("invisible characters of a token are written out", () => {
  assert.equal(shown("\u200fabc"), "\u27e8200F\u27e9abc");
  assert.equal(shown("a\u202eb\u0000"), "a\u27e8202E\u27e9b\u27e80000\u27e9");
  assert.equal(shown("</script>"), "</script>");
  assert.equal(shown("two words"), "two\u2423words");
  assert.equal(shown(""), "(empty)");
  assert.equal(shown("\u0301"), "\u25cc\u0301");
  assert.equal(shown("\u05d0\u05d1"), "\u05d0\u05d1");
  assert.equal(shortened("abcdef", 4), "abc\u2026");
  assert.equal(shortened("abcd", 4), "abcd");
});
