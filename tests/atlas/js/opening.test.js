import assert from "node:assert/strict";
import { test } from "node:test";

import { bestText, goalOf, shareOn } from "../../../workflow_scripts/atlas/page/lib/examples.js";
import { findingsOf, kindsOf, openingOf } from "../../../workflow_scripts/atlas/page/lib/opening.js";

const MODEL = { name: "m", n_layers: 2, n_heads: 2 };
const MEASURE = { model: "m", unit: "%", scale: "sequential", decimals: 1, better: null, null: null, label: null, low: null, high: null, n: 9, n_of: "segments", p: null, about: "" };
const PREVIOUS = { ...MEASURE, id: "attention.previous", title: "Previous", value: [10, 60, null, 40] };
const KINDS = { ...MEASURE, id: "behaviour.stratum", scale: "category", categories: ["syntactic", "frames", "position"], category_notes: ["silver"], value: [0, 2, 0, 2] };
const COST = { ...MEASURE, id: "disabling.sst2.1.head.uniform.dev", title: "Cost", unit: "points", null: 0, value: [-9, -3, 5, 0], p: [0.9, 0.01, 0.01, 0.9] };
const of = (measures, more = {}) => ({ models: [MODEL], measures, segments: [], ...more });

test("all heads are seen by their maps, by a measure where there are no maps", () => {
  assert.equal(openingOf(of([PREVIOUS], { segments: [{ model: "m" }] }), {}), "maps");
  assert.equal(openingOf(of([PREVIOUS]), {}), "grid");
});

test("kinds with their heads, those without any left out; else the roles that few heads have", () => {
  const kinds = kindsOf(of([PREVIOUS, KINDS]), MODEL, false);
  assert.deepEqual(kinds.map(({ title, note, heads }) => [title, note, heads]), [["syntactic", "silver", [0, 2]], ["position", undefined, [1, 3]]]);
  assert.deepEqual(kinds[1].address, { measure: "behaviour.stratum", filter: "behaviour.stratum:2" });
  const badges = [{ id: "sink", title: "Sink", heads: [0, 1, 2] }, { id: "copying", title: "Copying", measure: "copying.top", heads: [3] }];
  const roles = kindsOf(of([]), { ...MODEL, badges }, false);
  assert.deepEqual(roles.map(({ title, heads, address }) => [title, heads, address]), [["Copying", [3], { measure: "copying.top", filter: "@copying" }]]);
  assert.deepEqual(kindsOf(of([]), MODEL, false), []);
});

test("the study's findings come first, then the heads that are first of a measure and differ from its baseline", () => {
  const stated = { model: "m", sentence: "S", numbers: "n", verdict: "", address: "#model=m&view=head&head=1-1" };
  const found = findingsOf(of([PREVIOUS, COST], { findings: [{ ...stated, model: "other" }, stated] }), MODEL);
  assert.deepEqual(found.map(({ sentence }) => sentence), ["S", "Of all heads, 1-2 attends most to the previous token.", "Of all heads, 1-2 costs most when it is disabled."]);
  const least = { ...PREVIOUS, value: [9, 1, null, 4] };
  assert.deepEqual(findingsOf(of([least]), MODEL), []);
  assert.equal(found[1].numbers, "Previous: 60.0% (n = 9 segments; the first of 4 heads)");
  assert.equal(found[1].address, "#view=head&model=m&measure=attention.previous&head=1-2");
  assert.deepEqual(findingsOf(of([{ ...COST, p: [1, 1, 1, 1] }]), MODEL), []);
  assert.deepEqual(findingsOf(of([{ ...COST, p: [1, 1, 0.01, 1] }]), MODEL), []); // a gain is no cost
  const best = { ...MEASURE, id: "syntax.best", better: "high", null: 0, value: [-13, -20, -5, -30], low: [-47, -40, -9, -50], high: [-5, -1, -1, -2] };
  assert.deepEqual(findingsOf(of([best]), MODEL), []); // no head is better than the baseline
  const same = { ...stated, address: "#model=m&view=head&head=1-2" };
  assert.deepEqual(findingsOf(of([PREVIOUS], { findings: [same] }), MODEL), [same]);
  assert.equal(findingsOf(of([PREVIOUS], { findings: Array.from({ length: 6 }, () => stated) }), MODEL).length, 5);
});

test("what a measure is about, where a text shows it", () => {
  const ids = ["attention.previous", "attention.same_word", "role.induction", "coreference.words.nominal", "coreference.words.pronoun", "syntax.dobj", "entropy.all"];
  assert.deepEqual(ids.map(goalOf), ["previous", "same_word", "induction", "same_word", undefined, undefined, undefined]);
});

test("the text with the largest share of a head's weight, by hand", () => {
  const segment = { tokens: ["[CLS]", "a", "b", "a", "b", "[SEP]"], word: [-1, 0, 1, 2, 3, -1] };
  const uniform = new Float32Array(36).fill(1 / 6);
  const close = (goal, share, n) => {
    const found = shareOn(goal, segment, uniform);
    assert.ok(Math.abs(found.share - share) < 1e-6 && found.n === n, `${goal}: ${found.share} of ${found.n}`);
  };
  close("previous", 1 / 6, 5);
  close("sep", 1 / 6, 6);
  close("same_word", 1 / 6, 4);
  assert.equal(shareOn("duplicate", segment, uniform), null); // two tokens have an earlier copy
  assert.equal(shareOn("induction", segment, uniform), null);
  const shifted = uniform.slice();
  for (let query = 1; query < 6; query++) shifted[query * 6 + query - 1] = 1;
  const other = { ...segment, id: "other" };
  assert.equal(bestText("previous", [{ segment, map: uniform }, { segment: other, map: shifted }]).segment, other);
  assert.equal(bestText("induction", [{ segment, map: uniform }]), null);
});
