import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import {
  difference,
  inflate,
  jensenShannon,
  largest,
  loadMaps,
  readable,
  withoutFirst,
} from "../../../workflow_scripts/atlas/page/lib/maps.js";

const near = (value, expected, within = 1e-6) =>
  assert.ok(Math.abs(value - expected) <= within, `${value} is not ${expected}`);
const packed = (bytes) => deflateSync(Uint8Array.from(bytes)).toString("base64");

test("bytes come back from deflated base64", async () => {
  assert.deepEqual([...(await inflate(packed([0, 1, 128, 255])))], [0, 1, 128, 255]);
});

test("a byte is the root of a share of the largest weight, ordered layer, head, query, key", () => {
  const bytes = Uint8Array.from({ length: 2 * 3 * 4 }, (_, index) => index * 10);
  const maps = readable(bytes, { shape: [2, 3, 2, 2], largest: 0.5 });
  // Layer 2, head 1 (0-based 1, 0) starts at byte 12; query 1, key 0 is byte 14, of value 140.
  assert.equal(maps.head(1, 0).length, 4);
  near(maps.head(1, 0)[2], 0.5 * (140 / 255) ** 2);
  near(maps.head(0, 1)[3], 0.5 * (70 / 255) ** 2);
});

test("bytes that do not fill the shape are refused", () => {
  assert.throws(() => readable(new Uint8Array(5), { shape: [1, 1, 2, 2], largest: 1 }), /5 bytes.*needs 4/);
});

test("differences by hand", () => {
  const a = Float32Array.from([0.25, 0.75, 0.5, 0.5]);
  const b = Float32Array.from([0.75, 0.25, 0.5, 0.5]);
  assert.deepEqual([...difference(a, b)], [-0.5, 0.5, 0, 0]);
  assert.equal(largest(difference(a, b), Float32Array.from([0.1])), 0.5);
  assert.equal(largest(), 0);
  assert.throws(() => difference(a, Float32Array.from([1])), /4 and 1/);
});

test("the Jensen-Shannon divergence by hand", () => {
  const a = Float32Array.from([1, 0, 0.5, 0.5]);
  const b = Float32Array.from([0, 1, 0.5, 0.5]);
  near(jensenShannon(a, b), Math.log(2) / 2); // log 2 of the first query, 0 of the second
  assert.equal(jensenShannon(a, a), 0);
  // One query: p = (1, 0), q = (1/2, 1/2), mean (3/4, 1/4).
  const p = Float32Array.from([1, 0, 1, 0]);
  const q = Float32Array.from([0.5, 0.5, 0.5, 0.5]);
  const byHand = (Math.log(4 / 3) + 0.5 * Math.log(2 / 3) + 0.5 * Math.log(2)) / 2;
  near(jensenShannon(p, q), byHand);
  near(jensenShannon(q, p), byHand);
});

test("rows that rounding left short of 1 are scaled first", () => {
  const short = Float32Array.from([0.9, 0, 0.45, 0.45]);
  near(jensenShannon(short, Float32Array.from([1, 0, 0.5, 0.5])), 0);
  assert.ok(Number.isNaN(jensenShannon(Float32Array.from([0, 0, 1, 0]), Float32Array.from([1, 0, 1, 0]))));
});

test("maps are read from the atlas once, and missing ones are named", async () => {
  const atlas = { maps: { "m.s.p": { shape: [1, 1, 1, 1], largest: 1, data: packed([255]) } } };
  assert.equal((await loadMaps(atlas, "m.s.p")).head(0, 0)[0], 1);
  assert.equal(loadMaps(atlas, "m.s.p"), loadMaps(atlas, "m.s.p"));
  await assert.rejects(loadMaps(atlas, "other"), /maps other are not in this file/);
});

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
