/** What a head does, in sentences with their numbers: the measures that state it, in order. */

import { number, pText, withMinus } from "./format.js";
import { beats, countOf, countText, differs, intervalOf, layerOf, nullOf, valueText, withUnit } from "./measures.js";
import { provenance } from "./profile.js";
import { badgesAt } from "./roles.js";
import { tokenNames } from "./specials.js";

const [LEAST, NAMED] = [10, 3]; // % of the attention that is named, and how many goals of it
const LINKED = 2; // points above the controls from which frame links are stated, as in the kinds of heads
const GOALS = {
  previous: "the previous token", next: "the next token", self: "the current token", first: "the first token",
  punctuation: "periods and commas", same_word: "other copies of the same word", duplicate: "earlier copies of the token",
  induction: "what followed an earlier copy of the token",
};
const AND = new Intl.ListFormat("en-GB");
const OR = new Intl.ListFormat("en-GB", { type: "disjunction" });
const MENTIONS = { all: "all mentions", pronoun: "pronouns", proper: "names", nominal: "nominals", other_word: "mentions whose antecedents are other words" };
const WAYS = { uniform: "uniform attention", zero: "no output", mean: "mean output", position: "mean output by position", resample: "output on another text" };
const TYPES = {
  encoder: "Attends from the source sentence to itself, in the encoder",
  "encoder-decoder": "Attends from the translation so far to the source sentence, in the decoder (cross-attention)",
  decoder: "Attends from the translation so far to itself, in the decoder",
};

// The measures of each part, by their ids, and what is stated of them: [{sentence, measure, leads}].
const PARTS = [
  [/^attention\.(previous|next|self|cls|first|sep|punctuation)$/, goals],
  [/^role\.(previous|duplicate|induction)$/, roles],
  [/^attention\.same_word/, copies],
  [/^behaviour\.stratum$/, kind],
  [/^syntax\.(?!all$)/, relation],
  [/^coreference\.words\./, antecedents],
  [/^frames\.either\.above$/, frames],
  [/^(disabling\.[^.]+\.[^.]+\.head\.[^.]+\.dev|cue\.CRW\.accuracy)$/, effects("Disabling it", "effect")],
  [/^translation\.head\.zero\.test\.bleu$/, effects("Disabling it", "effect", " on the test set")],
  [/^translation\.all-but-one\.zero\.test\.bleu$/, effects("Disabling all other heads of its layer", undefined, " on the test set")],
];

/** What a head is said to attend to, a special token by the name that the model has for it. */
export function goalName(model, goal) {
  return GOALS[goal] ?? tokenNames(model)[goal];
}

/**
 * The profile of head i of a model: first the line that distinguishes it most, then the others.
 * @param {object} model
 * @param {object[]} measures  of the model
 * @param {number} i
 * @returns {{sentence: string, measure: object|null}[]}  each with the measure that it is read from
 */
export function profile(model, measures, i) {
  const { type } = layerOf(model, i);
  const found = PARTS.flatMap(([ids, state]) => {
    const members = measures.filter(({ id, value }) => ids.test(id) && value[i] !== null);
    return members.length > 0 ? state(members, i, model) : [];
  });
  const first = type && TYPES[type.name] ? [{ sentence: TYPES[type.name], measure: null }] : [];
  const leading = lead(found, measures, i);
  const order = [leading, ...first, ...found.filter((line) => line !== leading)].filter(Boolean);
  return order.map(({ sentence, measure }) => ({ sentence: `${sentence}.`, measure }));
}

// What makes a head one of its kind; of the other kinds it is where its attention goes.
const OF_KIND = { "same word": "copies", syntactic: "relation", frames: "frames", coreference: "antecedents", position: "goals", "special tokens": "goals" };

/**
 * The line that distinguishes a head most: what makes it its kind; else its role; else a gain over a baseline;
 * else where its attention goes; else the largest significant effect of disabling it.
 */
function lead(found, measures, i) {
  const stratum = measures.find(({ id }) => id === "behaviour.stratum");
  const order = [stratum && OF_KIND[valueText(stratum, i)], "role", "relation", "antecedents", "frames", "goals", "effect"];
  const line = (name) => found.find(({ leads }) => leads === name);
  return order.filter(Boolean).map(line).find(Boolean);
}

/** What stands behind a number: "98.9 to 99.0; n = 300; generated data". */
export function behind(measure, i, { interval = intervalOf(measure, i), first = [], last: end = [] } = {}) {
  const ends = interval && interval.map((end) => number(end, measure.decimals)).join(" to ");
  const p = measure.p?.[i] ?? null;
  const n = countText(measure, i);
  const tested = p !== null && pText(p);
  return [...first, ends, tested, n && `n = ${n}`, provenance(measure), ...end].filter(Boolean).join("; ");
}

/** "34.2% (33.1 to 35.4; n = 300)". */
export function share(measure, i) {
  return `${valueText(measure, i)} (${behind(measure, i)})`;
}

function last(id) {
  return id.split(".").at(-1);
}

function goals(members, i, model) {
  const order = members.toSorted((a, b) => b.value[i] - a.value[i]);
  const goal = ({ id }) => goalName(model, last(id));
  const large = order.filter(({ value }) => value[i] >= LEAST).slice(0, NAMED);
  if (large.length === 0) {
    const names = OR.format(order.map(goal));
    return [{ sentence: `Gives at most ${share(order[0], i)} of its attention to any of ${names}`, measure: order[0], leads: "goals" }];
  }
  const parts = large.map((measure, place) => `${share(measure, i)}${place === 0 ? " of its attention" : ""} to ${goal(measure)}`);
  return [{ sentence: `Gives ${AND.format(parts)}`, measure: large[0], leads: "goals" }];
}

/** The role that a decoder's head has by the rules of its chapter. */
function roles(members, i, model) {
  const found = members.filter(({ id }) => badgesAt(model, i).some(({ measure }) => measure === id)).toSorted((a, b) => b.value[i] - a.value[i]);
  return found.map((measure) => ({ sentence: `Gives ${share(measure, i)} of its attention to ${goalName(model, last(measure.id))}, in repeated random tokens`, measure, leads: "role" }));
}

/** Attention to other copies of the same word, where it is above that to other words by LEAST points or more. */
function copies(members, i) {
  const [same, above] = ["attention.same_word", "attention.same_word_above"].map((id) => members.find((one) => one.id === id));
  if (!same || !above || !(intervalOf(above, i)?.[0] > LEAST)) return [];
  return [{ sentence: `Gives ${share(same, i)} of its attention to other copies of the same word; ${same.null_title}: ${withUnit(same, nullOf(same, i))}`, measure: same, leads: "copies" }];
}

function kind([measure], i) {
  return [{ sentence: `Kind of head: ${valueText(measure, i)}`, measure }];
}

/** How far head i is above the baseline. */
function gain(measure, i) {
  return measure.value[i] - nullOf(measure, i);
}

function byGain(members, i) {
  return members.toSorted((a, b) => gain(b, i) - gain(a, i));
}

/** The lower end of the gain of head i over a fixed baseline, in points, with the errors of both; normal for the baseline's share. */
function leastGain(measure, i) {
  const [none, value] = [nullOf(measure, i), measure.value[i]];
  const [low] = intervalOf(measure, i) ?? [value];
  const error = 1.96 * Math.sqrt((none * (100 - none)) / (countOf(measure, i) ?? Infinity));
  return gain(measure, i) - Math.hypot(value - low, error);
}

function relation(members, i) {
  const [best] = byGain(members.filter((measure) => measure.id !== "syntax.best" && leastGain(measure, i) > 0), i);
  if (!best) return [];
  const name = best.id.replace("syntax.", "");
  const direction = best.label?.[i] ? ` (${best.label[i]})` : "";
  return [{
    sentence: `Best relation: ${name}${direction}, correct for ${valueText(best, i)} of words (${behind(best, i)}), ${number(gain(best, i), best.decimals)} points above the ${withMinus(best.null_title)}`,
    measure: best,
    leads: "relation",
  }];
}

function antecedents(members, i) {
  const [best] = byGain(members.filter((one) => beats(one, i)), i);
  if (!best) return [];
  const baseline = `the ${best.null_title}: ${withUnit(best, nullOf(best, i))}`;
  return [{ sentence: `Finds an antecedent of ${valueText(best, i)} of ${MENTIONS[last(best.id)]} (${behind(best, i)}); ${baseline}`, measure: best, leads: "antecedents" }];
}

function frames([measure], i) {
  if (!beats(measure, i) || measure.value[i] < LINKED) return [];
  const more = `${valueText(measure, i)} more attention (${behind(measure, i)})`;
  return [{ sentence: `Gives ${more} to frame links than to unlinked word pairs at the same distance`, measure, leads: "frames" }];
}

/** How a head is disabled where the study may do so in other ways too; ARCT has a single one. */
function how({ id }) {
  const [, way] = /\.head\.([^.]+)\.dev$/.exec(id) ?? [];
  return way ? [WAYS[way] ?? way] : [];
}

/** An effect that is not significant. Bootstrap samples of no change say nothing of other examples, so they give no interval. */
function size(measure, i) {
  const unchanged = [measure.value[i], ...(intervalOf(measure, i) ?? [1])].every((end) => end === 0);
  return unchanged ? { first: ["no change on these examples"], interval: null } : { first: [valueText(measure, i)] };
}

/**
 * What `doing` so costs or gains on each task, in each way, the largest first; in one line where no effect is
 * significant, of the first way on each task. `place`: on what, of a state that does not name its task.
 */
function effects(doing, leads, place = "") {
  return (members, i, model) => {
    const on = ({ state }) => {
      const title = model.states.find(({ name }) => name === state)?.title ?? "";
      return title.includes("on ") ? ` ${title.slice(title.indexOf("on "))}` : place; // "fine-tuned on SST-2, seed 1"
    };
    const found = members.filter((measure) => differs(measure, i)).toSorted((a, b) => Math.abs(b.value[i]) - Math.abs(a.value[i]));
    const lines = found.map((measure) => {
      const [value, interval] = [measure.value[i], intervalOf(measure, i)];
      const ends = interval && (value < 0 ? [-interval[1], -interval[0]] : interval);
      const points = withUnit(measure, Math.abs(value));
      return { sentence: `${doing} ${value < 0 ? "costs" : "gains"} ${points}${on(measure)} (${behind(measure, i, { interval: ends, last: how(measure) })})`, measure, leads };
    });
    const first = members.filter(({ state }, at) => members.findIndex((other) => other.state === state) === at);
    const none = first.filter((measure) => !differs(measure, i));
    if (none.length === 0) return lines;
    const each = none.map((measure) => `${on(measure)} (${behind(measure, i, { ...size(measure, i), last: how(measure) })})`.trim());
    return [...lines, { sentence: `${doing}: no significant effect ${OR.format(each)}`, measure: none[0] }];
  };
}
