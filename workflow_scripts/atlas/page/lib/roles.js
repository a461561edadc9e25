/** Roles that heads have by the rules of their chapters, and heads that share keys and values. */

import { once } from "./once.js";

const NONE = [];

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

/** The other heads with which a head shares keys and values; none where each has its own. */
export function sharingWith({ n_heads: heads, n_kv_heads: groups = heads }, index) {
  const size = heads / groups;
  const first = index - (index % size);
  return Array.from({ length: size }, (_, place) => first + place).filter((other) => other !== index);
}
