import assert from "node:assert/strict";
import { test } from "node:test";

import {
  segmentOf,
  segmentsFor,
  sideOf,
  sidesOf,
  sideText,
  specials,
  stateOf,
  stateTitle,
  otherStatesWithMaps,
} from "../../../workflow_scripts/atlas/page/lib/choice.js";

const model = { name: "m", n_layers: 2, n_heads: 4, states: [{ name: "pretrained", title: "before" }, { name: "sst2.1", title: "after" }] };
const segment = (id, name, maps) => ({ id, model: name, maps, tokens: ["[CLS]", "a"], word: [-1, 0] });
const atlas = {
  models: [model, { ...model, name: "other", n_layers: 1 }],
  segments: [segment("s0", "m", { pretrained: "x" }), segment("s1", "m", { "sst2.1": "y" }), segment("s0", "other", {})],
};

test("a segment by its id, else one with maps in the state, else the first", () => {
  assert.equal(segmentOf(atlas, model, "s1").id, "s1");
  assert.equal(segmentOf(atlas, model, "nothing", "sst2.1").id, "s1");
  assert.equal(segmentOf(atlas, model).id, "s0");
  assert.equal(segmentOf({ segments: [] }, model), undefined);
  assert.equal(stateOf(atlas.segments[1], "pretrained"), "sst2.1");
  assert.equal(stateTitle(model, "sst2.1"), "after");
  assert.deepEqual(specials(atlas.segments[0]), [true, false]);
});

test("sides of a comparison, written and read", () => {
  const side = sideOf(atlas, "m/2-3/sst2.1");
  assert.deepEqual([side.model.name, side.index, side.state, side.unknown], ["m", 6, "sst2.1", null]);
  assert.equal(sideText(side), "m/2-3/sst2.1");
  const other = sideOf(atlas, undefined, { model: "other", head: "1-2", state: "sst2.1" });
  assert.equal(sideText(other), "other/1-2/sst2.1");
  for (const wrong of ["nothing/1-1/x", "m/9-9/pretrained", "m/1-1/nothing", "x"]) {
    assert.equal(sideOf(atlas, wrong).unknown, wrong);
    assert.ok(sideText(sideOf(atlas, wrong)).startsWith("m/"));
  }
});

test("a comparison takes a segment with maps of both sides, if there is one", () => {
  const tuned = { ...segment("s2", "m", { pretrained: "x", "sst2.1": "z" }) };
  const study = { ...atlas, segments: [...atlas.segments, tuned] };
  const [before, after] = ["pretrained", "sst2.1"].map((state) => ({ model, index: 0, state }));
  assert.deepEqual(segmentsFor(study, before, after, "s0"), { chosen: [tuned, tuned], suited: [tuned] });
  assert.equal(segmentsFor(study, before, before, "s2").chosen[0].id, "s2");
  assert.deepEqual(segmentsFor(atlas, before, after, "s1").suited, []);
  assert.equal(segmentsFor(atlas, before, after, "s1").chosen[0].id, "s1");
  assert.deepEqual(segmentsFor({ segments: [] }, before, after), { chosen: [], suited: [] });
  const other = { model: atlas.models[1], index: 0, state: "pretrained" };
  assert.deepEqual(segmentsFor(atlas, before, other).chosen.map((one) => one.model), ["m", "other"]);
  const apart = { ...atlas, segments: [atlas.segments[0], segment("s9", "other", { pretrained: "z" })] };
  assert.deepEqual(segmentsFor(apart, before, other).chosen.map((one) => one.id), ["s0", "s9"]); // none in common
});

test("without a choice a short segment is shown, and states other than pretrained are those with maps", () => {
  const long = { ...segment("long", "m", { pretrained: "x" }), tokens: Array(41).fill("a") };
  assert.equal(segmentOf({ segments: [long, atlas.segments[0]] }, model).id, "s0");
  assert.equal(segmentOf({ segments: [long] }, model).id, "long");
  assert.deepEqual(otherStatesWithMaps(atlas, model, "pretrained"), []);
  const both = segment("s2", "m", { pretrained: "x", "sst2.1": "z" });
  assert.deepEqual(otherStatesWithMaps({ segments: [both] }, model, "pretrained").map(({ name }) => name), ["sst2.1"]);
});

test("a comparison without a choice opens on the head that changed most", () => {
  const open = (measures, state = {}) => sidesOf({ ...tuned, measures }, state).map(sideText);
  const both = { ...segment("s2", "m", { pretrained: "x", "sst2.1": "y" }) };
  const tuned = { ...atlas, segments: [both] };
  const similar = { model: "m", id: "similarity.sst2.1", better: "low", value: [0.9, null, 0.2, 0.8, 0.9, 0.9, 0.9, 0.9] };
  assert.deepEqual(open([similar]), ["m/1-3/pretrained", "m/1-3/sst2.1"]);
  assert.deepEqual(open([similar], { head: "2-1" }), ["m/2-1/pretrained", "m/2-1/sst2.1"]);
  assert.deepEqual(open([]), ["m/1-1/pretrained", "m/1-1/sst2.1"]);
  const change = { model: "other", id: "change.divergence", value: [0.1, 0.3, 0.2, 0], label: ["1-1", "2-4", "1-3", "1-4"], source: { where: { compared_with: "m" } } };
  assert.deepEqual(open([similar, change]), ["m/2-4/pretrained", "other/1-2/pretrained"]);
});
