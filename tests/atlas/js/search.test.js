import assert from "node:assert/strict";
import { test } from "node:test";

import { matches, searched } from "../../../workflow_scripts/atlas/page/lib/search.js";

const DOBJ = { id: "syntax.dobj", title: "Relation dobj", group: "Syntax" };
const SST2 = { id: "disabling.sst2.1.head.zero.dev", title: "Head disabled (zero), SST-2", group: "One head disabled, zero" };
const GROUPS = [
  { label: "Clark et al. 2019 · Syntax", measures: [DOBJ] },
  { label: "Kovaleva et al. 2019 · One head disabled, zero", measures: [SST2] },
];

test("all words must be found, in any order and case, in title, group or id", () => {
  assert.ok(["", "dobj", "DOBJ rel", "syntax dobj", "syntax.do"].every((words) => matches(DOBJ, words)));
  assert.ok(!matches(DOBJ, "dobj nsubj"));
  assert.ok(["sst-2 zero", "sst2 head", "(zero)", "disabled"].every((words) => matches(SST2, words)));
});

test("synonyms find what the measures call otherwise, and the word head is ignored", () => {
  assert.ok(["ablation", "knockout sst-2", "masked", "masking SST-2", "disabling heads"].every((words) => matches(SST2, words)));
  assert.ok(["dobj head", "heads dobj"].every((words) => matches(DOBJ, words)));
  assert.ok(matches({ id: "importance.sst2.1", title: "Importance, SST-2", group: "Importance" }, "pruning"));
  assert.ok(!matches({ id: "gradient.unmasked", title: "Gradient importance, all unmasked tokens", group: "Gradients" }, "masked"));
  assert.ok(!matches(DOBJ, "ablation") && !matches(SST2, "pruning") && !matches(DOBJ, "constructor"));
});

test("groups without a measure that matches are left out; a paper's name finds its measures", () => {
  assert.deepEqual(searched(GROUPS, ""), GROUPS);
  assert.deepEqual(searched(GROUPS, "kovaleva"), [GROUPS[1]]);
  assert.deepEqual(searched(GROUPS, "clark zero"), []);
});
