import assert from "node:assert/strict";
import { test } from "node:test";

import { compare, grouped, matches, placeOf, sorted, sortKey } from "../../../workflow_scripts/report/page/table.js";

const row = (...texts) => ({ texts, keys: texts.map(sortKey), text: texts.join(" ") });
const rows = [row("2-10", "7", "a"), row("2-9", "", "b"), row("10-1", "-1.5", "a"), row("2-9", "70", "c")];
const firsts = (found) => found.map((one) => one.texts[0]);

test("numbers are sorted as numbers, heads by layer and head, in both directions", () => {
  assert.deepEqual(firsts(sorted(rows, 0, "ascending")), ["2-9", "2-9", "2-10", "10-1"]);
  assert.deepEqual(firsts(sorted(rows, 0, "descending")), ["10-1", "2-10", "2-9", "2-9"]);
  assert.deepEqual(sorted(rows, 1, "ascending").map((one) => one.texts[1]), ["-1.5", "7", "70", ""]);
});

test("empty cells come last in both directions, and numbers before texts", () => {
  assert.deepEqual(sorted(rows, 1, "descending").map((one) => one.texts[1]), ["70", "7", "-1.5", ""]);
  assert.ok(compare(sortKey("3"), sortKey("three"), "ascending") < 0);
  assert.equal(sortKey("  "), null);
  assert.equal(sortKey("1e-05"), 0.00001);
});

test("sorting leaves the given rows, and equal rows, in their order", () => {
  const before = [...rows];
  const found = sorted(rows, 2, "ascending");
  assert.deepEqual(rows, before);
  assert.deepEqual(firsts(found), ["2-10", "10-1", "2-9", "2-9"]);
});

test("a row matches with all words in any order, and with the chosen values", () => {
  assert.ok(matches(rows[0], "A 2-10", {}));
  assert.ok(!matches(rows[0], "a 2-9", {}));
  assert.ok(matches(rows[0], " ", { 2: "a", 1: "" }));
  assert.ok(!matches(rows[0], "", { 2: "b" }));
});

test("groups come in the order of their column, rows within in the given one", () => {
  const groups = grouped([rows[3], rows[2], rows[0]], 2);
  assert.deepEqual(groups.map(([name, members]) => [name, firsts(members)]), [
    ["a", ["10-1", "2-10"]],
    ["c", ["2-9"]],
  ]);
});

test("the page knows where it stands", () => {
  const folder = "0123456789abcdef";
  assert.equal(placeOf(new URL("file:///x/results/demo/minilm/tables/claims.html")), "alone");
  assert.equal(placeOf(new URL(`file:///x/report/data/raw/${folder}/claims.html#a`)), "unpacked");
  assert.equal(placeOf(new URL("file:///x/data/raw/other/claims.html")), "alone");
  assert.equal(placeOf(new URL("data:text/html;base64,AAAA")), "inside");
  assert.equal(placeOf(new URL("blob:null/0123")), "inside");
});
