import assert from "node:assert/strict";
import { test } from "node:test";

import { segmentsFor } from "../../../workflow_scripts/atlas/page/lib/choice.js";
import { lines, strongest } from "../../../workflow_scripts/atlas/page/lib/drawing.js";
import { jensenShannon } from "../../../workflow_scripts/atlas/page/lib/maps.js";
import { placeOf, typeOf } from "../../../workflow_scripts/atlas/page/lib/measures.js";
import { aboutType, ofType, queriesOf } from "../../../workflow_scripts/atlas/page/lib/pairtexts.js";
import { generatedIn, generatedNote } from "../../../workflow_scripts/atlas/page/lib/texts.js";

const types = [["encoder", "Enc-Enc", 2], ["encoder-decoder", "Enc-Dec", 1], ["decoder", "Dec-Dec", 1]];
const model = {
  name: "t",
  n_layers: 4,
  n_heads: 2,
  types: types.map(([name, title, n_layers]) => ({ name, title, n_layers })),
  states: [{ name: "trained", title: "trained" }],
};
const PAIR = {
  id: "p",
  model: "t",
  tokens: ["a", "b", "</s>"],
  word: [0, 1, -1],
  target: { tokens: ["<pad>", "c"], word: [-1, 0] },
  maps: { trained: { encoder: "e", "encoder-decoder": "x", decoder: "d" } },
};
// Two queries, three keys.
const MAP = Float32Array.from([0.5, 0.25, 0.25, 0, 0, 1]);

test("a pair as heads of each type read it", () => {
  const read = Object.fromEntries(types.map(([name]) => [name, ofType(PAIR, name)]));
  assert.deepEqual(Object.values(read).map((each) => each.maps.trained), ["e", "x", "d"]);
  assert.deepEqual(Object.values(read).map((each) => [queriesOf(each).tokens.length, each.tokens.length]), [[3, 3], [2, 3], [2, 2]]);
  assert.deepEqual(read["encoder-decoder"].word, [0, 1, -1]);
  assert.deepEqual(queriesOf(read["encoder-decoder"]).word, [-1, 0]);
  assert.equal(ofType(PAIR, "decoder"), read.decoder);
  const text = { tokens: ["a"], word: [0], maps: {} };
  assert.equal(ofType(text, undefined), text);
  assert.equal(queriesOf(text), text);
  assert.equal(ofType(undefined, "decoder"), undefined);
  assert.match(aboutType("decoder"), /teacher forcing/);
  assert.equal(aboutType(undefined), null);
});

test("a head's place in the maps of its type", () => {
  assert.deepEqual([0, 3, 4, 7].map((index) => placeOf(model, index)), [[0, 0], [1, 1], [0, 0], [0, 1]]);
  assert.deepEqual([0, 4, 7].map((index) => typeOf(model, index)), ["encoder", "encoder-decoder", "decoder"]);
  assert.equal(typeOf({ n_layers: 1, n_heads: 2 }, 1), undefined);
});

test("the two sides of a comparison read the pair by their types", () => {
  const atlas = { segments: [PAIR] };
  const side = (index) => ({ model, index, state: "trained" });
  const { chosen, suited } = segmentsFor(atlas, side(0), side(5));
  assert.deepEqual(chosen.map((each) => each.maps.trained), ["e", "x"]);
  assert.deepEqual(suited, [PAIR]);
});

test("lines and links of a map with more keys than queries", () => {
  const levels = lines(MAP, { faintest: 0.3, keys: 3 });
  assert.deepEqual(levels.flatMap(({ pairs }) => pairs).sort(), [[0, 0], [1, 2]]);
  const dimmed = lines(MAP, { faintest: 0.1, keys: 3, hidden: [false, false, true], hiddenQueries: [false, true] });
  assert.deepEqual(dimmed.flatMap(({ pairs }) => pairs).sort(), [[0, 0], [0, 1]]);
  assert.deepEqual(strongest(MAP, 1, "query", 1, 3), [{ token: 2, weight: 1 }]);
  assert.deepEqual(strongest(MAP, 2, "key", 5, 3), [{ token: 1, weight: 1 }, { token: 0, weight: 0.25 }]);
});

test("the divergence of such maps is the mean over queries", () => {
  const other = Float32Array.from([0.5, 0.25, 0.25, 1, 0, 0]);
  assert.ok(Math.abs(jensenShannon(MAP, other, 3) - Math.log(2) / 2) < 1e-12); // 0 and log 2
});

test("the last tokens of a text are those that the model generated", () => {
  assert.deepEqual(generatedIn({ tokens: ["a", "b", "c"], generated: 2 }), [false, true, true]);
  assert.deepEqual(generatedIn({ tokens: ["a", "b"] }), [false, false]);
  assert.match(generatedNote({ tokens: ["a", "b", "c"], generated: 2 }), /the 2 tokens .* after the prompt's 1\./);
  assert.equal(generatedNote({ tokens: ["a"] }), null);
});
