/** What a head does, in sentences with their numbers: the measures that state it, in order. */

import { number, pValue } from "./format.js";
import { beats, countOf, differs, intervalOf, layerOf, nullOf, valueText, withUnit } from "./measures.js";
import { provenance } from "./profile.js";

const [LEAST, NAMED] = [10, 3]; // % of the attention that is named, and how many goals of it
const LINKED = 2; // points above the controls from which frame links are stated, as in the kinds of heads
const GOALS = {
  previous: "the previous token", next: "the next token", self: "the current token", cls: "[CLS]", sep: "[SEP]",
  punctuation: "periods and commas",
};
const AND = new Intl.ListFormat("en-GB");
const OR = new Intl.ListFormat("en-GB", { type: "disjunction" });
const MENTIONS = { all: "all mentions", pronoun: "pronouns", proper: "names", nominal: "nouns" };
const TYPES = {
  encoder: "Attends from the source sentence to itself, in the encoder",
  "encoder-decoder": "Attends from the translation so far to the source sentence, in the decoder",
  decoder: "Attends from the translation so far to itself, in the decoder",
};

// The measures of each part, by their ids, and what is stated of them: [{sentence, measure}].
const PARTS = [
  [/^attention\.(previous|next|self|cls|sep|punctuation)$/, goals],
  [/^behaviour\.stratum$/, kind],
  [/^patterns\.pretrained$/, shape],
  [/^entropy\.all$/, entropy],
  [/^syntax\.(?!all$)/, relation],
  [/^coreference\.words\./, antecedents],
  [/^frames\.either\.above$/, frames],
  [/^disabling\.[^.]+\.[^.]+\.head\.uniform\.dev$/, effects("Disabling it (uniform attention)")],
  [/^cue\.CRW\.accuracy$/, effects("Disabling it")],
  [/^translation\.head\.zero\.test\.bleu$/, effects("Masking it")],
  [/^translation\.all-but-one\.zero\.test\.bleu$/, effects("Masking all other heads of its layer")],
];

/**
 * The profile of head i of a model.
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
  return [...first, ...found].map((line) => ({ ...line, sentence: `${line.sentence}.` }));
}

/** What stands behind a number: "98.9 to 99.0; n = 300; generated data". */
function behind(measure, i, { interval = intervalOf(measure, i), first = [] } = {}) {
  const ends = interval && interval.map((end) => number(end, measure.decimals)).join(" to ");
  const p = measure.p?.[i] ?? null;
  const n = countOf(measure, i);
  const tested = p !== null && `p ${p < 0.001 ? "" : "= "}${pValue(p)}`;
  return [...first, ends, tested, n && `n = ${n}`, provenance(measure)].filter(Boolean).join("; ");
}

function share(measure, i) {
  return `${valueText(measure, i)} (${behind(measure, i)})`;
}

function last(id) {
  return id.split(".").at(-1);
}

function goals(members, i) {
  const order = members.toSorted((a, b) => b.value[i] - a.value[i]);
  const to = (measure) => `to ${GOALS[last(measure.id)]}`;
  const large = order.filter(({ value }) => value[i] >= LEAST).slice(0, NAMED);
  if (large.length === 0) {
    const names = OR.format(order.map(({ id }) => GOALS[last(id)]));
    return [{ sentence: `Gives at most ${share(order[0], i)} of its attention to any of ${names}`, measure: order[0] }];
  }
  const parts = large.map((measure, place) => `${share(measure, i)}${place === 0 ? " of its attention" : ""} ${to(measure)}`);
  return [{ sentence: `Gives ${AND.format(parts)}`, measure: large[0] }];
}

function kind([measure], i) {
  const name = valueText(measure, i);
  const none = name === "other" ? " (none of the kinds that this study measures)" : "";
  return [{ sentence: `Kind of head: ${name}${none}`, measure }];
}

function shape([measure], i) {
  const of = measure.label?.[i] ? `${measure.label[i]} of its maps are ${valueText(measure, i)}` : `Most of its maps are ${valueText(measure, i)}`;
  return [{ sentence: `${of} (${behind(measure, i)})`, measure }];
}

function entropy([measure], i) {
  const none = nullOf(measure, i) ?? null;
  const uniform = none === null ? "" : `; of ${measure.null_title ?? "the baseline"}: ${withUnit(measure, none)}`;
  return [{ sentence: `Entropy of its attention: ${share(measure, i)}${uniform}`, measure }];
}

/** How far head i is above the baseline. */
function gain(measure, i) {
  return measure.value[i] - nullOf(measure, i);
}

function largestGain(members, i) {
  return members.filter((one) => beats(one, i)).toSorted((a, b) => gain(b, i) - gain(a, i))[0];
}

function relation(members, i) {
  const relations = members.filter(({ id }) => id !== "syntax.best");
  const above = relations.filter((measure) => beats(measure, i)).length;
  const best = largestGain(relations, i);
  if (relations.length === 0) return [];
  if (!best) return [{ sentence: `Beats the best fixed offset at none of ${relations.length} relations`, measure: members[0] }];
  const none = nullOf(best, i);
  const ends = intervalOf(best, i)?.map((end) => end - none);
  const name = best.id.replace("syntax.", "");
  const direction = best.label?.[i] ? ` (${best.label[i]})` : "";
  const numbers = behind(best, i, { interval: ends });
  return [{
    sentence: `Best relation: ${name}${direction}, right for ${valueText(best, i)} of words, ${number(gain(best, i), best.decimals)} points (${numbers}) above the ${best.null_title}; of ${relations.length} relations, it beats the offset at ${above}`,
    measure: best,
  }];
}

function antecedents(members, i) {
  const best = largestGain(members, i);
  if (!best) return [];
  const baseline = `the ${best.null_title}: ${withUnit(best, nullOf(best, i))}`;
  return [{ sentence: `Finds an antecedent of ${valueText(best, i)} of ${MENTIONS[last(best.id)]} (${behind(best, i)}); ${baseline}`, measure: best }];
}

function frames([measure], i) {
  if (!beats(measure, i) || measure.value[i] < LINKED) return [];
  const more = `${valueText(measure, i)} more attention (${behind(measure, i)})`;
  return [{ sentence: `Gives ${more} to frame links than to unlinked words as far apart`, measure }];
}

/** What `doing` so costs or gains on each task, or that no effect is detectable. */
function effects(doing) {
  return (members, i, model) =>
    members.map((measure) => {
      const title = model.states.find(({ name }) => name === measure.state)?.title ?? "";
      const on = title.includes("on ") ? ` ${title.slice(title.indexOf("on "))}` : ""; // "fine-tuned on SST-2, seed 1"
      const value = measure.value[i];
      if (!differs(measure, i)) {
        return { sentence: `${doing}: no detectable effect${on} (${behind(measure, i, { first: [valueText(measure, i)] })})`, measure };
      }
      const interval = intervalOf(measure, i);
      const ends = interval && (value < 0 ? [-interval[1], -interval[0]] : interval);
      const size = withUnit(measure, Math.abs(value));
      return { sentence: `${doing} ${value < 0 ? "costs" : "gains"} ${size}${on} (${behind(measure, i, { interval: ends })})`, measure };
    });
}
