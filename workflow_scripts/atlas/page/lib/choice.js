/** What the address chooses: a segment and a state, the two sides of a comparison. */

import { findMeasure, headIndex, headName, listed, modelOf, typeOf } from "./measures.js";
import { ofType } from "./pairtexts.js";

const SHORT = 40; // tokens of a segment that fits a screen

/** The segments of a model, in the order of the file. */
export function segmentsOf(atlas, model) {
  return atlas.segments.filter((segment) => segment.model === model.name);
}

/**
 * The segment `id` of a model, else one that can be taken in at a glance; undefined where it has none.
 * @param {object} atlas
 * @param {object} model
 * @param {string} [id]
 * @param {string} [state]  prefer segments with maps in this state
 */
export function segmentOf(atlas, model, id, state) {
  const all = segmentsOf(atlas, model);
  const inState = all.filter((segment) => segment.maps[state]);
  return all.find((segment) => segment.id === id) ?? short(inState.length > 0 ? inState : all);
}

/** The first segment of at most SHORT tokens, else the first. */
function short(segments) {
  return segments.find(({ tokens }) => tokens.length <= SHORT) ?? segments[0];
}

/**
 * The segment of side a for a comparison: `id` where it has maps of both sides, else the first that
 * has, else as segmentOf. Two models have a segment in common where its id is the same; without one, each side
 * has a text of its own.
 * @param {object} atlas
 * @param {object} a
 * @param {object} b
 * @param {string} [id]
 * @returns {{chosen: object[], suited: object[]}}  the segments of a and of b, as their heads read them; all
 *   of a that have both
 */
export function segmentsFor(atlas, a, b, id) {
  const partner = (segment) => segmentsOf(atlas, b.model).find((other) => other.id === segment.id);
  const both = (segment) => segment.maps[a.state] && partner(segment)?.maps[b.state];
  const suited = segmentsOf(atlas, a.model).filter(both);
  const first = suited.find((segment) => segment.id === id) ?? short(suited) ?? segmentOf(atlas, a.model, id, a.state);
  const own = () => (a.model === b.model ? undefined : segmentOf(atlas, b.model, id, b.state));
  const chosen = first ? [ofType(first, typeOf(a.model, a.index)), ofType(partner(first) ?? own(), typeOf(b.model, b.index))] : [];
  return { chosen, suited };
}

/** The state of a segment's maps: the one that is asked for, else the first that the segment has. */
export function stateOf(segment, name) {
  return segment.maps[name] ? name : Object.keys(segment.maps)[0];
}

/** The states of a model, other than `name`, in which one of its segments that has maps of `name` has maps too. */
export function otherStatesWithMaps(atlas, model, name) {
  const inBoth = (state) => segmentsOf(atlas, model).some(({ maps }) => maps[name] && maps[state.name]);
  return model.states.filter((state) => state.name !== name && inBoth(state));
}

/** The title of a state of a model. */
export function stateTitle(model, name) {
  return model.states.find((state) => state.name === name)?.title ?? name;
}

/** Which tokens of a segment a tokenizer added, as [CLS] and [SEP]. */
export function specials(segment) {
  return segment.word.map((word) => word === -1);
}

/**
 * One side of a comparison from "minilm/3-7/pretrained", what is missing or unknown filled in.
 * @param {object} atlas
 * @param {string} [text]
 * @param {{model: string, head: string, state: string}} [otherwise]
 * @returns {{model: object, index: number, state: string, unknown: string|null}}
 */
export function sideOf(atlas, text, otherwise = {}) {
  const [modelName, head, stateName] = text ? text.split("/") : [];
  const named = atlas.models.find(({ name }) => name === (modelName ?? otherwise.model));
  const model = named ?? atlas.models[0];
  const index = headIndex(model, head ?? otherwise.head);
  const state = model.states.find(({ name }) => name === (stateName ?? otherwise.state));
  const known = named && index >= 0 && state;
  return {
    model,
    index: Math.max(0, index),
    state: state?.name ?? model.states[0].name,
    unknown: text && !known ? text : null,
  };
}

/** A side of a comparison as the address has it. */
export function sideText({ model, index, state }) {
  return `${model.name}/${headName(model, index)}/${state}`;
}

const CHANGE = "change.divergence"; // of a model from the one that the study compares it with

/** The measures of how far a model's heads changed from another model's. */
export function changesOf(atlas) {
  return atlas.measures.filter(({ id }) => id === CHANGE);
}

/** The sides of the head that changed most: from another model, else in fine-tuning; null where neither is measured. */
function mostChanged(atlas, model) {
  const [change] = changesOf(atlas);
  if (change) {
    const [before, after] = [change.source.where.compared_with, change.model].map((name) => atlas.models.find((one) => one.name === name));
    const [index] = listed(change);
    return [{ model: before, index: headIndex(before, change.label[index]) }, { model: after, index }].map((side) => ({ ...side, state: side.model.states[0].name, unknown: null }));
  }
  const after = otherStatesWithMaps(atlas, model, model.states[0].name)[0]?.name;
  const measure = after && findMeasure(atlas, model, `similarity.${after}`);
  if (!measure) return null;
  const [index] = listed(measure);
  return [model.states[0].name, after].map((state) => ({ model, index, state, unknown: null }));
}

/**
 * The sides that the address names; else the head of the address before and after fine-tuning, or its neighbour;
 * where it names none, the head that changed most.
 */
export function sidesOf(atlas, state) {
  const model = modelOf(atlas, state);
  const changed = state.a || state.b || state.head ? null : mostChanged(atlas, model);
  if (changed) return changed;
  const first = { model: model.name, head: headName(model, Math.max(0, headIndex(model, state.head))), state: model.states[0].name };
  const a = sideOf(atlas, state.a, first);
  const after = otherStatesWithMaps(atlas, a.model, a.state)[0];
  const next = headName(a.model, (a.index + (after ? 0 : 1)) % (a.model.n_layers * a.model.n_heads));
  return [a, sideOf(atlas, state.b, { model: a.model.name, head: next, state: after?.name ?? a.state })];
}
