/** Finding measures by words. */

// Words of the field for what the measures call otherwise; an empty one is ignored.
const SYNONYMS = { ablated: "disab", ablating: "disab", ablation: "disab", disabling: "disab", knockout: "disab", masked: "disab", masking: "disab", pruning: "importance", head: "", heads: "" };

/** Whether a measure's title, group or id has all `words`, or parts or synonyms of them. */
export function matches(measure, words, group = measure.group) {
  const text = `${measure.title} ${group} ${measure.id}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word) || (Object.hasOwn(SYNONYMS, word) && text.includes(SYNONYMS[word])));
}

/**
 * The groups of `groups()` with those measures that match, without empty groups.
 * @param {{label: string, measures: object[]}[]} groups
 * @param {string} words
 * @returns {{label: string, measures: object[]}[]}
 */
export function searched(groups, words) {
  return groups
    .map(({ label, measures }) => ({ label, measures: measures.filter((measure) => matches(measure, words, label)) }))
    .filter(({ measures }) => measures.length > 0);
}
