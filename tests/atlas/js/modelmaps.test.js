import assert from "node:assert/strict";
import { test } from "node:test";

import {
  blocksOf,
  mostAttended,
  pixelsOf,
  placesOf,
  pooled,
  stepOf,
  tableOf,
} from "../../../workflow_scripts/atlas/page/lib/modelmaps.js";

const model = {
  name: "m",
  n_layers: 2,
  n_heads: 3,
  states: [{ name: "pretrained", title: "pretrained" }, { name: "arct", title: "trained on ARCT" }],
};
const segment = { id: "s", model: "m", tokens: ["[CLS]", "a", "b", "[SEP]"], word: [-1, 0, 1, -1], maps: { pretrained: "id" } };

test("an encoder has one block, of the same queries and keys", () => {
  const [block, ...none] = blocksOf(model, segment, "pretrained");
  assert.deepEqual([block.id, block.first, block.layers, none.length], ["id", 0, 2, 0]);
  assert.deepEqual([block.queries, block.keys, block.title], [segment, segment, undefined]);
  assert.equal(blocksOf(model, segment, "other")[0].id, null);
});

test("a translator has a block for each type, of source and target tokens", () => {
  const types = [["encoder", 2], ["encoder-decoder", 3], ["decoder", 3]].map(([name, n_layers]) => ({ name, title: name, n_layers }));
  const target = { tokens: ["<s>", "x"], word: [-1, 0] };
  const maps = { trained: { encoder: "e", "encoder-decoder": "ed", decoder: null } };
  const blocks = blocksOf({ ...model, types }, { ...segment, target, maps }, "trained");
  assert.deepEqual(blocks.map(({ id, first, layers }) => [id, first, layers]), [["e", 0, 2], ["ed", 2, 3], [null, 5, 3]]);
  assert.deepEqual(blocks.map(({ queries }) => queries.tokens.length), [4, 2, 2]);
  assert.deepEqual(blocks.map(({ keys }) => keys.tokens.length), [4, 4, 2]);
});

test("rows and columns of all tokens, and of words", () => {
  const block = { queries: segment, keys: segment };
  assert.deepEqual(placesOf(block), { rows: [0, 1, 2, 3], columns: [0, 1, 2, 3] });
  assert.deepEqual(placesOf(block, { words: true }), { rows: [1, 2], columns: [1, 2] });
});

// 2 queries by 3 keys.
const MAP = Float32Array.from([0.5, 0.25, 0.25, 0, 0.25, 0.75]);
const ALL = { rows: [0, 1], columns: [0, 1, 2] };

test("a point is the largest of its weights", () => {
  assert.deepEqual(pooled(MAP, 3, ALL, 1), { width: 3, height: 2, values: MAP });
  assert.deepEqual(pooled(MAP, 3, ALL, 2), { width: 2, height: 1, values: Float32Array.from([0.5, 0.75]) });
  assert.deepEqual(pooled(MAP, 3, { rows: [1], columns: [1, 2] }, 1).values, Float32Array.from([0.25, 0.75]));
  assert.deepEqual(pooled(MAP, 3, { rows: [], columns: [] }, 1), { width: 0, height: 0, values: new Float32Array(0) });
  assert.equal(stepOf(ALL, 3), 1);
  assert.equal(stepOf(ALL, 2), 2);
  assert.equal(stepOf({ rows: [], columns: [] }, 2), 1);
});

test("the token with the most attention, on average over the queries", () => {
  assert.deepEqual(mostAttended(MAP, 3, ALL), { key: 2, mean: 0.5 });
  assert.deepEqual(mostAttended(MAP, 3, { rows: [0], columns: [0, 1] }), { key: 0, mean: 0.5 });
  assert.equal(mostAttended(MAP, 3, { rows: [], columns: [] }), null);
  assert.equal(mostAttended(MAP, 3, { rows: [], columns: [0] }), null);
});

test("colour is the root of the weight, from 0 to 1", () => {
  const table = tableOf((share) => [255 * share, 0, 100]);
  const reds = (values) => [...pixelsOf({ values: Float32Array.from(values) }, table)].filter((_, index) => index % 4 === 0);
  assert.deepEqual(reds([0, 0.25, 1]), [0, 128, 255]);
  assert.deepEqual([...pixelsOf({ values: Float32Array.from([1]) }, table)], [255, 0, 100, 255]);
});
