import assert from "node:assert/strict";
import { test } from "node:test";
import { axisOf, byPaper, counted, ourNumber, paperSide, short } from "../../../workflow_scripts/atlas/page/lib/claims.js";

const row = (id, verdict, badge, more = {}) => ({ model: "m", paper: "A", id, verdict, badge, central: 0, ...more });

test("claims stand by paper with their cases, what has a verdict first, then in their order", () => {
  const rows = [
    row("untested", "not tested", "none", { central: 1 }),
    row("late", "carries over", "good", { central: 3 }),
    row("early", "inconclusive", "open", { central: 2, case: "1" }),
    row("early", "not tested", "none", { central: 2, case: "2" }),
    row("other", "not run", "none", { paper: "B", central: 1 }),
    row("beside", "not run", "none"),
    row("else", "not run", "none", { model: "n", central: 1 }),
  ];
  const central = byPaper(rows, "m", true);
  assert.deepEqual(central.map(({ paper, claims }) => [paper, claims.map(({ id }) => id)]), [["A", ["early", "late", "untested"]], ["B", ["other"]]]);
  assert.deepEqual(central[0].claims[0].cases.map((one) => one.case), ["1", "2"]);
  assert.deepEqual(byPaper(rows, "m", false).map(({ claims }) => claims.map(({ id }) => id)), [["beside"]]);
});

test("a claim counts once, by the cases that are tested", () => {
  const [good, bad, none] = [row("a", "carries over", "good"), row("a", "does not carry over", "bad"), row("a", "not tested", "none")];
  const claims = [[good, none], [good], [good, bad], [none, none]].map((cases) => ({ cases }));
  assert.deepEqual(counted(claims), [["carries over", 2], ["differs from case to case", 1], ["not tested", 1]]);
});

test("all numbers of a claim's cases have a place on its axis, in their order", () => {
  const { low, high, place } = axisOf([{ ours: 10, ci_low: 8, ci_high: 12, rule_low: 50 }, { ours: 0, paper_value: 60 }]);
  assert.deepEqual([low, high], [0, 60]);
  assert.ok(Math.abs(place(0) - 0.08) < 1e-9 && Math.abs(place(60) - 0.92) < 1e-9 && Math.abs(place(30) - 0.5) < 1e-9);
  assert.equal(axisOf([{ ours: 3 }]).place(3), 0.5);
  assert.equal(axisOf([{ rule_low: 3 }]), null);
});

test("numbers have three digits and a true minus; equal ends are no interval", () => {
  assert.deepEqual([2.08259, -0.6371, 20928.4, 0.00183496, 100].map(short), ["2.08", "−0.637", "20928", "0.00183", "100"]);
  assert.equal(ourNumber({ ours: 2.08259, ci_low: 2.01029, ci_high: 2.16557, unit: "%" }), "2.08 (2.01 to 2.17) %");
  assert.equal(ourNumber({ ours: 2, ci_low: 2, ci_high: 2, unit: "points" }), "2 points");
  assert.equal(ourNumber({ unit: "%" }), "");
});

test("the paper's side names the place, the rule, the paper's number and how it was read", () => {
  assert.equal(paperSide({ place: "Table 1", rule: "above 5 %", paper_value: 6.25, paper_model: "BERT", source: "as summarised" }), "Table 1. Rule: above 5 %. BERT: 6.25. As summarised");
  assert.equal(paperSide({ place: "3.2", rule: "above 5 %" }), "3.2. Rule: above 5 %");
  assert.equal(paperSide({ place: "3.2", rule: "above 5 %", paper_value: 65 }), "3.2. Rule: above 5 %. The paper: 65");
});
