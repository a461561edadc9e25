/** Finding measures by words. */

// Words of the field, and what the measures that are about them have; "masked" is not to find "unmasked".
const MEANT = [[/^(ablat|disabl|knock|mask)\w*$/, /ablat|disabl/], [/^pruning$/, /importance/], [/^heads?$/, /^/]];

/** Whether a measure's title, group or id has all `words`, or parts of them, or what they mean. */
export function matches(measure, words, group = measure.group) {
  const text = `${measure.title} ${group} ${measure.id}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => MEANT.find(([said]) => said.test(word))?.[1].test(text) ?? text.includes(word));
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
