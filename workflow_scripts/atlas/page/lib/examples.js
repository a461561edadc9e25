/** The text on which what is said of a head shows most: where most of its weight is on what it is said to attend to. */

const LEAST = 3; // tokens that have something of the kind in a text
const WORD = /[\p{L}\p{N}]/u;

const again = ({ tokens }, query, key) => key !== query && tokens[key] === tokens[query] && WORD.test(tokens[key]);
// Whether a key is what a measure, by the end of its id, is about.
const WANTED = {
  previous: (_, query, key) => key === query - 1,
  next: (_, query, key) => key === query + 1,
  self: (_, query, key) => key === query,
  first: (_, query, key) => key === 0 && query > 0,
  cls: ({ word }, _, key) => key === 0 && word[key] < 0,
  sep: ({ word }, _, key) => key > 0 && word[key] < 0,
  punctuation: ({ tokens }, _, key) => /^[.,]$/.test(tokens[key]),
  same_word: again,
  duplicate: (segment, query, key) => key < query && again(segment, query, key),
  induction: (segment, query, key) => key > 0 && key <= query && again(segment, query, key - 1),
};

/**
 * What a measure is about, as a key of WANTED; undefined for what a text does not show. Antecedents but those of
 * pronouns have mostly the mention's own word.
 */
export function goalOf(id) {
  if (/^coreference\.words\.(all|proper|nominal)$/.test(id)) return "same_word";
  const end = /^(?:attention|role)\.(\w+)$/.exec(id)?.[1] ?? "";
  return Object.hasOwn(WANTED, end) ? end : undefined;
}

/**
 * How much of a head's weight in a text is on what it is said to attend to.
 * @param {string} goal  a key of WANTED
 * @param {{tokens: string[], word: number[]}} segment
 * @param {Float32Array} map  [query, key]
 * @returns {{share: number, n: number}|null}  share: mean over the n tokens that could attend so; null of too few
 */
export function shareOn(goal, segment, map) {
  const size = segment.tokens.length;
  const wanted = WANTED[goal];
  let [total, n] = [0, 0];
  for (let query = 0; query < size; query++) {
    let [sum, some] = [0, false];
    for (let key = 0; key < size; key++) {
      if (!wanted(segment, query, key)) continue;
      some = true;
      sum += map[query * size + key];
    }
    total += sum;
    n += some;
  }
  return n < LEAST ? null : { share: total / n, n };
}

/**
 * The text with the largest share; null where no text has enough of the kind.
 * @param {string} goal
 * @param {{segment: object, map: Float32Array}[]} texts
 * @returns {{segment: object, share: number, n: number}|null}
 */
export function bestText(goal, texts) {
  const found = texts.map(({ segment, map }) => ({ segment, ...shareOn(goal, segment, map) }));
  return found.filter(({ n }) => n).toSorted((a, b) => b.share - a.share)[0] ?? null;
}
