import assert from "node:assert/strict";
import { test } from "node:test";

import { outcomeText } from "../../../workflow_scripts/atlas/page/lib/outcome.js";

const example = (label, predicted) => ({ label, predictions: { "sst2.1": predicted } });

test("a class with its probability", () => {
  const text = (probability) => outcomeText(example("positive", { label: "negative", probability }), "sst2.1");
  assert.equal(text(0.8315), "label: positive; predicted: negative (0.83)");
  assert.equal(text(0.9949), "label: positive; predicted: negative (0.99)");
  assert.equal(text(0.9951), "label: positive; predicted: negative (> 0.99)");
  assert.equal(text(1), "label: positive; predicted: negative (> 0.99)");
});

test("a score", () => {
  assert.equal(outcomeText(example(3.2, { label: 2.9149, probability: null }), "sst2.1"), "score: 3.20; predicted: 2.91");
  assert.equal(outcomeText(example(0, { label: -0.25, probability: null }), "pretrained"), "score: 0.00");
});

test("the label alone before fine-tuning, and nothing without one", () => {
  assert.equal(outcomeText(example("positive", { label: "negative", probability: 0.8 }), "pretrained"), "label: positive");
  assert.equal(outcomeText({ label: "positive" }, "sst2.1"), "label: positive");
  assert.equal(outcomeText({ tokens: [] }, "pretrained"), null);
});
