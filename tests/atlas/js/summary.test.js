import assert from "node:assert/strict";
import { test } from "node:test";

import { profile } from "../../../workflow_scripts/atlas/page/lib/summary.js";

const MODEL = {
  name: "m", n_layers: 1, n_heads: 2,
  states: [{ name: "pretrained", title: "pretrained" }, { name: "sst2.1", title: "fine-tuned on SST-2, seed 1", task: "sst2" }],
};
const BASE = {
  about: "On text.", unit: "%", decimals: 1, scale: "sequential", better: null, null: null, null_title: null, label: null,
  categories: null, low: null, high: null, n: null, p: null, state: "pretrained", task: null,
};
const EFFECT = { unit: "points", better: "low", null: 0, null_title: "no effect", task: "sst2", state: "sst2.1", n: 200 };
const stated = (measures, i = 0, model = MODEL) => profile(model, measures.map((one) => ({ ...BASE, ...one })), i).map(({ sentence }) => sentence);

test("the goals of a tenth of the attention or more, the largest first", () => {
  const goals = [["cls", [12, 2], [11, 1], [13, 3]], ["previous", [70.04, 4], [69, 3], [71, 5]], ["next", [9.9, 3], [9, 2], [10, 4]]];
  const measures = goals.map(([name, value, low, high]) => ({ id: `attention.${name}`, value, low, high, n: 300 }));
  assert.deepEqual(stated(measures), [
    "Gives 70.0% (69.0 to 71.0; n = 300) of its attention to the previous token and 12.0% (11.0 to 13.0; n = 300) to [CLS].",
  ]);
  assert.deepEqual(stated(measures, 1), ["Gives at most 4.0% (3.0 to 5.0; n = 300) of its attention to any of the previous token, the next token or [CLS]."]);
  assert.deepEqual(stated([{ ...measures[0], value: [null, 1] }]), []);
});

test("copies of the same word, where the lower end of the gain is above 10 points, before any effect", () => {
  const measures = [
    { id: "attention.same_word", value: [39.6, 19], low: [38, 12], high: [41, 26], n: 128, null: [2.04, 2], null_title: "other words" },
    { id: "attention.same_word_above", value: [37.5, 17], low: [36, 10], high: [39, 24], n: 128, null: 0 },
    { id: "behaviour.stratum", scale: "category", categories: ["same word", "unclassified"], value: [0, 1] },
    { ...EFFECT, id: "disabling.sst2.1.head.uniform.dev", value: [-3, -3], p: [0.01, 0.01] },
  ];
  assert.equal(stated(measures)[0], "Gives 39.6% (38.0 to 41.0; n = 128) of its attention to other copies of the same word; other words: 2.0%.");
  assert.ok(stated(measures, 1).every((line) => !line.includes("same word")));
});

test("the kind of a head", () => {
  const measures = [{ id: "behaviour.stratum", scale: "category", categories: ["syntactic", "position", "unclassified"], value: [1, 2] }];
  assert.deepEqual(stated(measures), ["Kind of head: position."]);
  assert.deepEqual(stated(measures, 1), ["Kind of head: unclassified."]);
});

test("the relation with the largest gain whose interval, with the offset's own error, is above 0", () => {
  const relation = { better: "high", null_title: "best fixed offset, -2", n: 50, about: "The annotation is silver." };
  const measures = [
    // By 30, but its interval reaches the offset; by 20; by 15; and all words together, which are no relation.
    { ...relation, id: "syntax.mark", null: 40, value: [70, 10], low: [40, 5], high: [90, 15] },
    { ...relation, id: "syntax.dobj", null: 40, value: [60, 10], low: [55, 5], high: [65, 15], label: ["dependent to head", "head to dependent"] },
    { ...relation, id: "syntax.det", null: 50, value: [65, 10], low: [60, 5], high: [70, 15] },
    { ...relation, id: "syntax.all", null: 1, value: [99, 99], low: [99, 99], high: [99, 99] },
    { ...relation, id: "syntax.best", null: 0, value: [30, -30], low: [0, -35], high: [50, -25], label: ["mark", "mark"] },
  ];
  assert.deepEqual(stated(measures), [
    "Best relation: dobj (dependent to head), correct for 60.0% of words (55.0 to 65.0; n = 50; silver annotation), 20.0 points above the best fixed offset, −2.",
  ]);
  // 20 is more than the root of 5² + 1.96² · 40 · 60 / 50.
  assert.deepEqual(stated(measures, 1), []);
});

test("antecedents and frame links only where they beat their baseline", () => {
  const mentions = { better: "high", n: 90, null_title: "nearest mention", about: "The data are generated." };
  const measures = [
    { ...mentions, id: "coreference.words.all", null: 20, value: [30, 10], low: [25, 5], high: [35, 15] },
    { ...mentions, id: "coreference.words.nominal", null: 40, value: [90, 45], low: [85, 39], high: [95, 51] },
    { id: "frames.either.above", unit: "points", better: "high", null: 0, null_title: "unlinked words", value: [3, 1.9], low: [2, 1], high: [4, 3], p: [0.0004, 0.0004], n: 9 },
  ];
  assert.deepEqual(stated(measures), [
    "Finds an antecedent of 90.0% of nominals (85.0 to 95.0; n = 90; generated data); the nearest mention: 40.0%.",
    "Gives 3.0 points more attention (2.0 to 4.0; p < 0.001; n = 9) to frame links than to unlinked word pairs at the same distance.",
  ]);
  assert.deepEqual(stated(measures, 1), []);
  const [, , links] = measures;
  assert.deepEqual(stated([{ ...links, p: [0.06, 1] }]), []);
});

test("what disabling costs or gains on each task, the largest first, and one line of tasks without a significant effect", () => {
  const measures = [
    { ...EFFECT, id: "disabling.sst2.1.head.uniform.dev", value: [-3, 2], low: [-5.5, 1], high: [-1, 3], p: [0.085, 0.01] },
    { ...EFFECT, id: "disabling.mnli.1.head.uniform.dev", state: "mnli.1", value: [0, -4], low: [-1, -6], high: [1, -2], p: [1, 0.001] },
    { ...EFFECT, id: "disabling.sst2.1.head.zero.dev", value: [-9, -9], low: [-10, -10], high: [-8, -8], p: [0.01, 0.01] },
    { ...EFFECT, id: "disabling.sst2.1.head.uniform.dev_tweets", value: [-9, -9], low: [-10, -10], high: [-8, -8], p: [0.01, 0.01] },
  ];
  const model = { ...MODEL, states: [...MODEL.states, { name: "mnli.1", title: "fine-tuned on MNLI, seed 1" }] };
  assert.deepEqual(stated(measures, 0, model), [
    "Disabling it costs 9.0 points on SST-2, seed 1 (8.0 to 10.0; p = 0.010; n = 200; no output).",
    "Disabling it: no significant effect on SST-2, seed 1 (−3.0 points; −5.5 to −1.0; p = 0.085; n = 200; uniform attention) or on MNLI, seed 1 (0.0 points; −1.0 to 1.0; p > 0.99; n = 200; uniform attention).",
  ]);
  const unchanged = { ...measures[0], value: [0, 0], low: [0, 0], high: [0, 0], p: [1, 1] };
  assert.deepEqual(stated([unchanged], 0, model), [
    "Disabling it: no significant effect on SST-2, seed 1 (no change on these examples; p > 0.99; n = 200; uniform attention).",
  ]);
  assert.deepEqual(stated(measures, 1, model), [
    "Disabling it costs 9.0 points on SST-2, seed 1 (8.0 to 10.0; p = 0.010; n = 200; no output).",
    "Disabling it costs 4.0 points on MNLI, seed 1 (2.0 to 6.0; p = 0.001; n = 200; uniform attention).",
    "Disabling it gains 2.0 points on SST-2, seed 1 (1.0 to 3.0; p = 0.010; n = 200; uniform attention).",
  ]);
});

test("first the line that distinguishes the head: its kind, else a gain, else where its attention goes, else an effect", () => {
  const measures = [
    { id: "attention.cls", value: [60, 60] },
    { id: "behaviour.stratum", scale: "category", categories: ["syntactic", "special tokens", "unclassified"], value: [0, 1] },
    { id: "syntax.dobj", better: "high", null: 40, null_title: "offset", value: [60, 60], low: [55, 55], high: [65, 65] },
  ];
  const effect = (p) => ({ ...EFFECT, id: "disabling.sst2.1.head.uniform.dev", value: [-3, -3], p: [p, p] });
  const first = (found, i = 0) => stated(found, i)[0].slice(0, 12);
  assert.equal(first([...measures, effect(0.01)]), "Best relatio");
  assert.equal(first([...measures, effect(0.01)], 1), "Gives 60.0% ");
  assert.equal(first([effect(0.01)]), "Disabling it");
  const other = { ...measures[1], value: [2, 2] };
  assert.equal(first([measures[0], other, measures[2]]), "Best relatio");
  assert.equal(first([measures[0], other, { ...measures[2], low: [40, 40] }]), "Gives 60.0% ");
  assert.equal(first([measures[0], measures[2]]), "Best relatio"); // a study that has no kinds
});

test("a translator's head by its type of attention, and the cost of disabling it", () => {
  const model = {
    name: "t", n_layers: 2, n_heads: 1, states: [{ name: "trained", title: "trained to translate" }],
    types: [{ name: "encoder", title: "Enc-Enc", n_layers: 1 }, { name: "encoder-decoder", title: "Enc-Dec", n_layers: 1 }],
  };
  const effect = { unit: "BLEU", better: "low", null: 0, null_title: "no effect", state: "trained", n: 100, about: "The data are generated." };
  const measures = [
    { ...effect, id: "translation.head.zero.test.bleu", value: [-4, -0.5], low: [-6, -1], high: [-2, 0.5], p: [0.001, 0.9] },
    { ...effect, id: "translation.all-but-one.zero.test.bleu", better: "high", value: [-20, -0.5], low: [-26, -1], high: [-12, 0.5], p: [0.001, 0.9] },
  ];
  assert.deepEqual(stated(measures, 0, model), [
    "Disabling it costs 4.0 BLEU on the test set (2.0 to 6.0; p = 0.001; n = 100; generated data).",
    "Attends from the source sentence to itself, in the encoder.",
    "Disabling all other heads of its layer costs 20.0 BLEU on the test set (12.0 to 26.0; p = 0.001; n = 100; generated data).",
  ]);
  assert.match(stated(measures, 1, model)[0], /^Attends from the translation so far to the source sentence/);
  assert.equal(stated(measures, 1, model)[1], "Disabling it: no significant effect on the test set (−0.5 BLEU; −1.0 to 0.5; p = 0.900; n = 100; generated data).");
});
