/** Roles that heads have by the rules of their chapters, and heads that share keys and values. */

import { once } from "./once.js";

const NONE = [];
const [LETTER, PAD, GAP] = [6, 5, 1]; // pixels of a mark in a cell

/** The badges of a model, none where no chapter states roles. */
export function badgesOf({ badges = NONE }) {
  return badges;
}

/** The badge `id` of a model, or undefined. */
export function findBadge(model, id) {
  return badgesOf(model).find((badge) => badge.id === id);
}

const byHead = once((model) => {
  const found = new Map();
  for (const badge of badgesOf(model)) for (const head of badge.heads) found.set(head, [...(found.get(head) ?? []), badge]);
  return found;
});

/** The badges of a head, in the order of the model's. */
export function badgesAt(model, index) {
  return byHead(model).get(index) ?? NONE;
}

/**
 * The heads of a layer that share keys and values, as columns of the grid; none where each head has its own.
 * @param {{n_heads: number, n_kv_heads?: number}} model
 * @returns {{first: number, last: number}[]}
 */
export function groupsOf({ n_heads: heads, n_kv_heads: groups = heads }) {
  const size = heads / groups;
  return size > 1 ? Array.from({ length: groups }, (_, group) => ({ first: group * size, last: (group + 1) * size - 1 })) : [];
}

/**
 * With which heads a head shares keys and values.
 * @returns {{group: number, of: number, others: number[]}|null}  group: from 1, in the layer; null where it shares none
 */
export function sharedBy(model, index) {
  const column = index % model.n_heads;
  const groups = groupsOf(model);
  const group = groups.findIndex(({ first, last }) => first <= column && column <= last);
  if (group < 0) return null;
  const { first, last } = groups[group];
  const members = Array.from({ length: last - first + 1 }, (_, place) => index - column + first + place);
  return { group: group + 1, of: groups.length, others: members.filter((member) => member !== index) };
}

/**
 * Marks at the right of a cell, from the left; where there is no room for all, the first ones and how many more.
 * @param {string[]} marks
 * @param {number} width  of the cell in pixels
 * @returns {{text: string, x: number, width: number}[]}  none where not even their number fits
 */
export function placedMarks(marks, width) {
  const wide = (text) => LETTER * Array.from(text).length + PAD;
  for (let kept = marks.length; kept >= 0; kept--) {
    const texts = kept === marks.length ? marks : [...marks.slice(0, kept), `+${marks.length - kept}`];
    let x = width - GAP - texts.reduce((sum, text) => sum + wide(text) + GAP, 0);
    if (x < GAP) continue;
    return texts.map((text) => {
      const placed = { text, x, width: wide(text) };
      x += wide(text) + GAP;
      return placed;
    });
  }
  return [];
}
