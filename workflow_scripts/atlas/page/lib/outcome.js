/** The gold label of a task's example, and what a checkpoint predicts, in words. */

import { number } from "./format.js";

/**
 * "label: positive; predicted: negative (0.83)"; null for a text without a label.
 * @param {object} segment
 * @param {string} state
 * @returns {string|null}
 */
export function outcomeText({ label, predictions }, state) {
  if (label === undefined) return null;
  const gold = `${typeof label === "number" ? "score" : "label"}: ${written(label)}`;
  const predicted = predictions?.[state];
  if (!predicted) return gold;
  const share = predicted.probability === null ? "" : ` (${probability(predicted.probability)})`;
  return `${gold}; predicted: ${written(predicted.label)}${share}`;
}

function written(label) {
  return typeof label === "number" ? number(label, 2) : label;
}

// Four decimals are stored; two of 0.997 would claim certainty.
function probability(share) {
  return share >= 0.995 ? "> 0.99" : number(share, 2);
}
