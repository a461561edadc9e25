/** Finding measures by words. */

// Words of the field for what the measures call otherwise; an empty one is ignored.
const SYNONYMS = { ablated: "disab", ablating: "disab", ablation: "disab", disabling: "disab", knockout: "disab", masked: "disab", masking: "disab", pruning: "importance", head: "", heads: "" };

/** Whether in a measure's title, group or id words begin with all `words`, or with synonyms of them. */
export function matches(measure, words, group = measure.group) {
  const text = `${measure.title} ${group} ${measure.id}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => begins(text, word) || (Object.hasOwn(SYNONYMS, word) && begins(text, SYNONYMS[word])));
}

// "masked" does not begin in "unmasked".
function begins(text, word) {
  const places = Array.from(text, (_, at) => at).filter((at) => text.startsWith(word, at));
  return word === "" || places.some((at) => !/\p{L}/u.test(text[at - 1] ?? ""));
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
