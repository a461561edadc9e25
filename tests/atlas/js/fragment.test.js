import assert from "node:assert/strict";
import { test } from "node:test";

import { format, parse } from "../../../workflow_scripts/atlas/page/lib/fragment.js";

test("an empty fragment is the grid, and the grid is not written", () => {
  assert.deepEqual(parse(""), { view: "grid", map: "lines" });
  assert.equal(format(parse("#")), "#");
  assert.equal(format({ view: "grid", map: "lines", head: "", model: null }), "#");
});

test("what is written is read again", () => {
  const state = parse("#view=compare&model=minilm&filter=syntax.dobj>60,entropy.all<2&a=minilm/3-7/pretrained&map=matrix");
  assert.equal(state.filter, "syntax.dobj>60,entropy.all<2");
  assert.equal(state.a, "minilm/3-7/pretrained");
  assert.deepEqual(parse(format(state)), state);
  for (const model of ["50% of%20it", "a%20b", "100%"]) assert.equal(parse(format({ ...state, model })).model, model);
});

test("a fragment may be percent-encoded, in part or as a whole", () => {
  const expected = parse("#view=head&head=3-7&filter=a>1");
  assert.deepEqual(parse("#view%3Dhead%26head%3D3-7%26filter%3Da%3E1"), expected);
  assert.deepEqual(parse("#view=head&head=3-7&filter=a%3E1"), expected);
});

test("malformed parts and unknown keys are left out", () => {
  assert.deepEqual(parse("#%E0%A4%A"), { view: "grid", map: "lines" });
  assert.deepEqual(parse("#__proto__=1&x&=3&view=&head=1-1"), { view: "grid", map: "lines", head: "1-1" });
});
