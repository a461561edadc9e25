import assert from "node:assert/strict";
import { test } from "node:test";

import { axesOf, placeOf } from "../../../workflow_scripts/atlas/page/lib/cloud.js";
import { misread } from "../../../workflow_scripts/atlas/page/lib/misread.js";
import { domain } from "../../../workflow_scripts/atlas/page/lib/scales.js";

const states = [{ name: "pretrained", title: "pretrained" }];
const model = { name: "m", title: "M", n_layers: 3, n_heads: 2, states };
const measure = (id) => ({ id, title: id.toUpperCase(), model: "m", value: [1, 2, 3, 4, 5, 6], scale: "sequential" });
const segments = [{ id: "s", model: "m", maps: { pretrained: "x" }, tokens: ["a"], word: [0] }];
const atlas = { models: [model], measures: [measure("p"), measure("q")], segments };
const of = (fragment, view = "grid") => misread(atlas, fragment, view);

test("an address that is understood needs no notice", () => {
  assert.deepEqual(of(""), []);
  assert.deepEqual(of("model=m&measure=q&filter=p>1,q!&brush=1-1,3-2"), []);
  assert.deepEqual(of("map=matrix&norms=1&sentences=ab&margins=heads&sort=-value&theme=dark"), []);
  assert.deepEqual(of("view=scatter&x=p&y=q&colour=p", "scatter"), []);
  assert.deepEqual(of("view=head&head=3-2&state=pretrained", "head"), []);
  assert.deepEqual(of("view=compare&a=m/1-1/pretrained&b=m/3-2/pretrained", "compare"), []);
});

test("what is not understood is named, with what is shown instead", () => {
  assert.deepEqual(of("view=x"), ["There is no view “x”; the grid is shown."]);
  assert.deepEqual(of("model=x"), ["This study has no model “x”; M is shown."]);
  assert.deepEqual(of("measure=x"), ["M has no measure “x”; “P” is shown."]);
  assert.deepEqual(of("view=scatter&x=x&y=q&colour=z", "scatter"), [
    "M has no measure for x “x”; “P” is shown.",
    "M has no measure for colour “z”; “Layer” is shown.",
  ]);
  assert.deepEqual(of("filter=p>1,p>x,>"), [
    "The filter “p>x” is not understood and not applied.",
    "The filter “>” is not understood and not applied.",
  ]);
  assert.deepEqual(of("brush=1-1,9-9"), ["M has no head “9-9”; it is not selected."]);
  assert.deepEqual(of("view=head&head=9-9", "head"), ["M has no head “9-9”; 1-1 is shown."]);
  assert.deepEqual(of("view=head&head=1-1&state=x", "head"), ["M has no checkpoint “x”; pretrained is shown."]);
  assert.deepEqual(of("view=compare&a=m/9-9/pretrained", "compare"), [
    "This study has no “m/9-9/pretrained”; side A is m/1-1/pretrained.",
  ]);
  assert.deepEqual(of("map=x&norms=2&sentences=ac&margins=x&sort=-x&theme=x").map((line) => line.match(/“(.*)”/)[1]), [
    "map=x", "norms=2", "sentences=ac", "margins=x", "sort=-x", "theme=x",
  ]);
  assert.deepEqual(of("modell=m&p"), [
    "The address has “modell=m”, which means nothing here.",
    "The address has “p”, which means nothing here.",
  ]);
});

test("what a view does not use is not its matter", () => {
  assert.deepEqual(of("x=x&head=9-9&a=x"), []);
  assert.deepEqual(of("view=head&head=1-1&measure=x&filter=x", "head"), []);
});

test("axes fall back to two measures; the colours of layers begin at layer 1", () => {
  const { x, y, colour } = axesOf(atlas, { x: "nothing", y: "p" });
  assert.deepEqual([x.id, y.id, colour], ["q", "p", null]);
  assert.deepEqual(domain(placeOf(model)), [1, 3]);
});
