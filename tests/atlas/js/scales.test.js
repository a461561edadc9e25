import assert from "node:assert/strict";
import { test } from "node:test";

import { category, colours, domain, isDown, luminance, mix, onTop, palette, reach, roundStep, tickDecimals, ticks } from "../../../workflow_scripts/atlas/page/lib/scales.js";

const of = (value, more = {}) => ({ value, scale: "sequential", null: null, ...more });

test("a colour between two points is linear in red, green and blue", () => {
  const ramp = ["#000000", "#ff8000", "#ffffff"];
  assert.equal(mix(ramp, 0), "#000000");
  assert.equal(mix(ramp, 0.25), "#804000");
  assert.equal(mix(ramp, 0.5), "#ff8000");
  assert.equal(mix(ramp, 1), "#ffffff");
  assert.equal(mix(ramp, 7), "#ffffff");
  assert.equal(mix(ramp, -1), "#000000");
});

test("the range is round, begins at zero where that is near, and holds the null", () => {
  assert.deepEqual(domain(of([3, 78.2, null])), [0, 80]);
  assert.deepEqual(domain(of([30, 80])), [0, 80]);
  assert.deepEqual(domain(of([50, 95])), [50, 95]);
  assert.deepEqual(domain(of([50, 95], { null: 20 })), [0, 95]);
  assert.deepEqual(domain(of([1, 2], { null: 4.84 })), [0, 5]);
  assert.equal(domain(of([null])), null);
  for (const one of [0, 1, -3]) {
    const [low, high] = domain(of([one, one]));
    assert.ok(low < high && low <= one && one <= high, `${one}: ${low} ${high}`);
  }
});

test("the range of intervals holds their ends and the baseline", () => {
  assert.deepEqual(reach(of([3, null], { low: [1.2, null], high: [4, null], null: 6.4 })), [1, 7]);
  assert.deepEqual(reach(of([2, 2])), [1.8, 2.2]);
});

test("a diverging range is centred at the null", () => {
  assert.deepEqual(domain(of([-3.5, 1], { scale: "diverging", null: 0 })), [-3.5, 3.5]);
  assert.deepEqual(domain(of([9, 12], { scale: "diverging", null: 10 })), [8, 12]);
  assert.deepEqual(domain(of([-3, 1], { scale: "diverging", null: [1, 2] })), [-3, 3]);
  assert.deepEqual(domain(of([0, 0], { scale: "diverging", null: 0 })), [-1, 1]);
});

test("more is darker on a light page and brighter on a dark one", () => {
  for (const dark of [false, true]) {
    const colour = colours(of([0, 10]), dark);
    const light = [0, 2, 4, 6, 8, 10].map((one) => luminance(colour(one)));
    const sorted = light.toSorted((a, b) => (dark ? a - b : b - a));
    assert.deepEqual(light, sorted);
    assert.equal(new Set(light).size, light.length);
    assert.equal(colour(null), null);
  }
});

test("harm is red whether a score falls or a loss rises, and a large change is dark", () => {
  const isRed = (colour) => Number.parseInt(colour.slice(1, 3), 16) > Number.parseInt(colour.slice(5, 7), 16);
  for (const [harm, sign] of [["low", -1], ["high", 1], [undefined, 1]]) {
    const effect = colours(of([-1, 1], { scale: "diverging", null: 0, harm }), false);
    assert.ok(isRed(effect(sign)) && !isRed(effect(-sign)));
  }
  const [score, loss] = ["low", "high"].map((harm) => colours(of([-1, 1], { scale: "diverging", null: 0, harm }), true));
  assert.equal(score(-0.8), loss(0.8));
  const similarity = of([0.4, 1], { better: "low" });
  assert.ok(isDown(similarity) && !isDown(of([0.4, 1], { better: "high" })));
  for (const dark of [false, true]) {
    const [low, high] = [0.4, 1].map((one) => luminance(colours(similarity, dark)(one)));
    assert.equal(low < high, !dark);
  }
});

test("the centre of a diverging scale is that of the page's ground", () => {
  const measure = of([-1, 1], { scale: "diverging", null: 0 });
  assert.ok(luminance(colours(measure, false)(0)) > 0.85);
  assert.ok(luminance(colours(measure, true)(0)) < 0.02);
});

test("what stands on a colour has the better contrast", () => {
  for (const colour of ["#000000", "#777777", "#0072b2", "#cc79a7", "#e69f00", "#ffffff"]) {
    const ground = luminance(colour) + 0.05;
    const white = 1.05 / ground;
    const black = ground / 0.05;
    assert.equal(onTop(colour), white > black ? "#ffffff" : "#000000");
    assert.ok(Math.max(white, black) >= 4.5);
  }
  assert.notEqual(category(6, true), "#000000");
  assert.equal(category(6, false), "#000000");
});

test("ticks are round numbers within the range", () => {
  assert.deepEqual(ticks([0, 75], 6), [0, 20, 40, 60]);
  assert.deepEqual(ticks([-3.5, 3.5], 6), [-2, 0, 2]);
  assert.deepEqual(ticks([0.3, 1], 6), [0.4, 0.6, 0.8, 1]);
  assert.deepEqual([1, 1.1, 2, 3, 5.01, 0.03].map(roundStep), [1, 2, 2, 5, 10, 0.05]);
  assert.equal(tickDecimals([0.4, 0.6]), 1);
  assert.equal(tickDecimals([0, 0.005]), 3);
  assert.equal(tickDecimals([0, 20]), 0);
});

test("kinds with names have the figures' colours, others their number's", () => {
  assert.deepEqual(palette(["vertical", "block"], false), ["#0072b2", "#f0e442"]);
  assert.deepEqual(palette(["vertical", "unheard of"], false), [category(0, false), category(1, false)]);
  assert.deepEqual(palette(["loss", "cannot tell"], false), ["#b2182b", "#cccccc"]);
  assert.ok(palette(["syntactic", "self", "broad"], true).every((colour) => luminance(colour) > 0.2));
});
