import assert from "node:assert/strict";
import { test } from "node:test";

import { measureRows } from "../../../workflow_scripts/atlas/page/lib/rows.js";
import { csvText, wrapped } from "../../../workflow_scripts/atlas/page/lib/save.js";

test("cells with commas, quotes or line breaks are quoted; numbers are whole", () => {
  const rows = [
    { head: "1-1", value: 0.1 + 0.2, text: 'a "b", c' },
    { head: "1-2", value: null, text: "two\nlines" },
  ];
  assert.equal(csvText(rows), 'head,value,text\r\n1-1,0.30000000000000004,"a ""b"", c"\r\n1-2,,"two\nlines"\r\n');
});

test("no text is a formula of a spreadsheet program; nothing else is changed", () => {
  const texts = ["=1+1", "=SUM(1)"];
  const plain = [-0.5, "-0.5", "-", "@-@", "8-11", "'tis", "a=b", -1e-7];
  const written = csvText([...texts, ...plain].map((text) => ({ text }))).split("\r\n").slice(1, -1);
  assert.deepEqual(written, [...texts.map((text) => `'${text}`), ...plain.map(String)]);
  assert.equal(csvText([{ "=a": "\r1" }]), `'=a\r\n"\r1"\r\n`);
});

test("a measure's rows count layers and heads from 1 and from 0 and name its category", () => {
  const model = { name: "m", n_layers: 2, n_heads: 2 };
  const measure = {
    id: "a", title: "A", unit: "%", scale: "sequential", state: "pretrained", value: [1, 2, 3, null], low: [0, 1, 2, null], high: null,
    n: [9, 8, 7, 6], p: null, null: [5, 5, 5, 4], label: null,
  };
  const rows = measureRows(model, measure);
  assert.equal(rows.length, 4);
  assert.deepEqual(
    [rows[2].layer, rows[2].head, rows[2].layer_from_0, rows[2].head_from_0, rows[2].value, rows[2].low, rows[2].n, rows[2].null],
    [2, 1, 1, 0, 3, 2, 7, 5],
  );
  const classes = { ...measure, scale: "category", value: [1, 0, null, 1], categories: ["x", "y"] };
  assert.deepEqual(measureRows(model, classes).map(({ value }) => value), ["y", "x", null, "y"]);
});

test("a sentence is broken between words, and nothing is lost", () => {
  const lines = wrapped("one two three fourteenletters five", 9);
  assert.deepEqual(lines, ["one two", "three", "fourteenletters", "five"]);
});
