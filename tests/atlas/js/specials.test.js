import assert from "node:assert/strict";
import { test } from "node:test";
import { tokenNames, withOwnTokens } from "../../../workflow_scripts/atlas/page/lib/specials.js";

test("an encoder's own tokens stand in the words of its measures, and nobody else's", () => {
  const measure = (model) => ({ model, id: "attention.cls", title: "Attention to [CLS]", about: "From [SEP] to [CLS].", null_title: "offset, −1" });
  const text = (model, tokens, word) => ({ model, tokens, word });
  const atlas = {
    models: [{ name: "bert" }, { name: "roberta" }, { name: "none" }, { name: "gpt", causal: true }],
    segments: [text("roberta", ["a"], [0]), text("roberta", ["<s>", "a", "</s>"], [-1, 0, -1]), text("gpt", ["<|x|>", "<|y|>"], [-1, -1])],
    measures: ["bert", "roberta", "none", "gpt"].map((model) => ({ ...measure(model), null_title: "offset, -1" })),
  };
  const { models, measures } = withOwnTokens(atlas);
  assert.deepEqual(measures[1], { ...measure("roberta"), title: "Attention to <s>", about: "From </s> to <s>." });
  assert.deepEqual([measures[0], measures[2], measures[3]], [measure("bert"), measure("none"), measure("gpt")]);
  assert.deepEqual(models.map((model) => tokenNames(model).cls), ["[CLS]", "<s>", "[CLS]", "[CLS]"]);
});
