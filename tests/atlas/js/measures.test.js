import assert from "node:assert/strict";
import { test } from "node:test";

import { number, plural, pText, pValue, withMinus } from "../../../workflow_scripts/atlas/page/lib/format.js";
import {
  beats, claim, differs, extent, hatched, hatchRule, headIndex, headName, holds, known, layerMeans, layerOf, layersOf, listed, measuresElsewhere, oneSided, ranks, sentence,
  typesOf, valueText,
} from "../../../workflow_scripts/atlas/page/lib/measures.js";

const MODEL = { name: "m", n_layers: 2, n_heads: 3 };
const MEASURE = {
  id: "a", title: "A", unit: "%", scale: "sequential", decimals: 1, better: "high", null: 4, null_title: "chance", label: null,
  categories: null, value: [5, 7, null, 7, -0.04, 1], low: [4, 6, null, 3, -1, 0], high: [6, 8, null, 9, 1, 2], n: 30, p: null,
};

test("what a model lacks is named once, of the first model that has it", () => {
  const measures = [["a", "x"], ["b", "x"], ["b", "y"], ["c", "y"], ["c", "z"]].map(([model, id]) => ({ model, id }));
  assert.deepEqual(measuresElsewhere({ measures }, { name: "a" }), [measures[2], measures[4]]);
  assert.deepEqual(measuresElsewhere({ measures }, { name: "b" }), [measures[4]]);
});

test("names of heads count layers and heads from 1", () => {
  assert.equal(headName(MODEL, 5), "2-3");
  for (let index = 0; index < 6; index++) assert.equal(headIndex(MODEL, headName(MODEL, index)), index);
  for (const wrong of ["0-1", "3-1", "1-4", "1", "1-1-1", "x", "", undefined]) assert.equal(headIndex(MODEL, wrong), -1);
});

test("a translator's heads are named by their type of attention, too", () => {
  const types = [["encoder", "Enc-Enc", 2], ["encoder-decoder", "Enc-Dec", 1], ["decoder", "Dec-Dec", 1]];
  const translator = { n_layers: 4, n_heads: 2, types: types.map(([name, title, n_layers]) => ({ name, title, n_layers })) };
  const names = ["Enc-Enc 1-1", "Enc-Enc 1-2", "Enc-Enc 2-1", "Enc-Enc 2-2", "Enc-Dec 1-1", "Enc-Dec 1-2", "Dec-Dec 1-1", "Dec-Dec 1-2"];
  assert.deepEqual(names.map((_, index) => headName(translator, index)), names);
  assert.deepEqual(names.map((name) => headIndex(translator, name)), [0, 1, 2, 3, 4, 5, 6, 7]);
  for (const wrong of ["1-1", "Enc-Dec 2-1", "Dec-Enc 1-1", "encoder 1-1"]) assert.equal(headIndex(translator, wrong), -1);
  assert.equal(layerOf(translator, 3).type.name, "encoder");
  assert.deepEqual(layersOf(translator).map(({ layer }) => layer), [1, 2, 1, 1]);
  assert.deepEqual(typesOf(translator).map(({ title, first, last }) => [title, first, last]), [["Enc-Enc", 0, 1], ["Enc-Dec", 2, 2], ["Dec-Dec", 3, 3]]);
  assert.deepEqual([layerOf(MODEL, 3).type, layerOf(MODEL, 3).layer, typesOf(MODEL)], [undefined, 2, []]);
});

const EITHER = { ...MEASURE, better: null };
const EFFECT = { ...MEASURE, null_title: "no effect" }; // has a better side, which ranks begin at
const of = (measure, rule = hatched) => measure.value.map((_, index) => rule(measure, index));

test("without a better side a head is hatched where its interval includes the baseline, its ends too", () => {
  assert.deepEqual(of(EITHER), [true, false, false, true, false, false]);
  const own = { ...EITHER, null: [7, 7, 7, 2, 0, null] };
  assert.deepEqual(of(own), [false, true, false, false, true, false]);
  assert.ok(hatched({ ...EITHER, null: 8 }, 1));
  assert.ok(!hatched({ ...EITHER, null: 8.001 }, 1));
  for (const untested of [{ null: null }, { low: null, high: null }]) {
    assert.ok(of({ ...EITHER, ...untested }).every((one) => !one));
    assert.ok(of({ ...EITHER, ...untested }, holds).every((one) => one === null));
  }
});

test("with a better side a head is hatched unless its whole interval lies there", () => {
  assert.deepEqual(of(MEASURE), [true, false, false, true, true, true]);
  assert.deepEqual(of(MEASURE, holds), [false, true, null, false, false, false]);
  assert.deepEqual(of({ ...MEASURE, better: "low" }), [true, true, false, true, false, false]);
  const own = { ...MEASURE, null: [7, 5.9, 7, 2, 0, null] };
  assert.deepEqual(of(own), [true, false, false, false, true, false]);
});

test("a loss and a gain both count as effects", () => {
  assert.ok(oneSided(MEASURE) && !oneSided(EITHER) && !oneSided(EFFECT) && !oneSided({ ...MEASURE, null: null }));
  assert.deepEqual(of(EFFECT), of(EITHER));
  assert.deepEqual(of({ ...EFFECT, better: "low" }), of(EITHER));
  assert.deepEqual(of({ ...EFFECT, better: "low" }, beats), [false, false, null, false, true, true]);
  assert.deepEqual(of(EFFECT, differs), [false, true, null, false, true, true]);
});

test("a corrected p decides where there is one, and the side of the value", () => {
  const p = [0.049, 0.05, null, 0.001, 1, 0];
  assert.deepEqual(of({ ...EITHER, p }), [false, true, false, false, true, false]);
  assert.deepEqual(of({ ...MEASURE, p }), [false, true, false, false, true, true]);
});

test("what is tested, in words", () => {
  assert.equal(claim(MEASURE), "better than the baseline");
  assert.equal(claim(EITHER), "differs from the baseline");
  assert.equal(claim({ ...MEASURE, null: null }), null);
  assert.equal(claim({ ...MEASURE, null: null, p: [1] }), "differs from the baseline");
  const p = [1];
  assert.equal(hatchRule(MEASURE), "not better than the baseline (chance): the head's own interval does not lie entirely above it (not corrected for the number of heads)");
  assert.match(hatchRule({ ...MEASURE, better: "low" }), /entirely below/);
  assert.match(hatchRule(EITHER), /^no detectable difference from the baseline \(chance\): the head's own interval includes it/);
  assert.equal(hatchRule({ ...EITHER, p }), "no detectable difference from the baseline (chance): p, corrected over the heads, is 0.05 or more");
  assert.equal(hatchRule({ ...MEASURE, p }), "not better than the baseline (chance): p, corrected over the heads, is 0.05 or more, or the value is not above it");
  assert.equal(hatchRule({ ...MEASURE, null: null }), null);
});

test("equal values share the better rank, unknown ones have none", () => {
  assert.deepEqual(ranks(MEASURE), [3, 1, null, 1, 5, 4]);
  assert.deepEqual(ranks({ ...MEASURE, better: "low" }), [3, 4, null, 4, 1, 2]);
  assert.deepEqual(ranks({ ...MEASURE, scale: "category" }), [null, null, null, null, null, null]);
  assert.equal(known(MEASURE), 5);
  assert.deepEqual(extent(MEASURE), [-0.04, 7]);
  assert.equal(extent({ value: [null, null] }), null);
});

test("a value in words", () => {
  assert.equal(valueText(MEASURE, 0), "5.0%");
  assert.equal(valueText(MEASURE, 4), "0.0%"); // no minus before a zero
  assert.equal(valueText({ ...MEASURE, unit: "nats", value: [-2.34] }, 0), "−2.3 nats");
  assert.equal(valueText(MEASURE, 2), "unknown");
  assert.equal(valueText({ ...MEASURE, scale: "category", value: [1], categories: ["x", "y"] }, 0), "y");
  assert.equal(
    sentence(MODEL, MEASURE, 3),
    "Head 2-1, A 7.0%, interval 3.0 to 9.0, rank 1 of 5, n 30, hatched: not better than the baseline",
  );
  assert.equal(sentence(MODEL, { ...MEASURE, label: ["", "", "dobj"] }, 2), "Head 1-3, A unknown, dobj, n 30");
});

test("numbers, p-values and counts in words", () => {
  assert.equal(number(-1.25, 1), "−1.3");
  assert.equal(number(-0.004, 2), "0.00");
  assert.equal(number(null, 2), "–");
  assert.equal(pValue(0.0004), "< 0.001");
  assert.equal(withMinus("best fixed offset, -1"), "best fixed offset, −1");
  assert.equal(withMinus("3-7: -2.5 (-6.5 to 1.5)"), "3-7: −2.5 (−6.5 to 1.5)");
  assert.equal(pValue(0.05), "0.050");
  assert.equal(pValue(0.99), "0.990");
  assert.equal(pValue(0.9996), "> 0.99");
  assert.deepEqual([0.0004, 0.05, 1].map(pText), ["p < 0.001", "p = 0.050", "p > 0.99"]);
  assert.equal(pValue(null), "–");
  assert.equal(plural(1, "head"), "1 head");
  assert.equal(plural(0, "head"), "0 heads");
});

test("means of layers leave out what is unknown; a list begins with the best, unknown ones last", () => {
  const measure = { value: [1, 5, 3, null, 2, 2], scale: "sequential", better: null };
  assert.deepEqual(layerMeans(measure, MODEL), [3, 2]);
  assert.deepEqual(layerMeans({ value: [null, null, 4] }, { n_layers: 3, n_heads: 1 }), [null, null, 4]);
  assert.deepEqual(listed({ ...measure, better: "low" }), [0, 4, 5, 2, 1, 3]);
  assert.deepEqual(listed(measure), [1, 2, 4, 5, 0, 3]);
});
