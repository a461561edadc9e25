/**
 * The two sentences of a text that is a pair: A up to the separator in its middle, B after it. Special tokens are
 * of neither.
 */

export const DIRECTIONS = [["", "all tokens"], ["ab", "A to B"], ["ba", "B to A"], ["aa", "within A"], ["bb", "within B"]];

/**
 * The sentence of each token.
 * @param {{word: number[], target?: object}} segment  word: -1 for special tokens
 * @returns {("a"|"b"|null)[]|null}  null where the text is not a pair
 */
export function sentencesOf({ word, target }) {
  if (target) return null;
  let runs = 0;
  const runOf = word.map((index, place) => {
    if (index < 0) return -1;
    if (place === 0 || word[place - 1] < 0) runs++;
    return runs - 1;
  });
  return runs === 2 ? runOf.map((run) => ["a", "b"][run] ?? null) : null;
}

/** The direction that the address names, else "" for all tokens. */
export function directionOf(sentences, name) {
  return sentences && DIRECTIONS.some(([known]) => known === name) ? name : "";
}

/**
 * Which weights are of a direction.
 * @param {(string|null)[]|null} sentences  of n tokens
 * @param {string} direction
 * @returns {boolean[]|null}  n * n, [query, key]; null where all are
 */
export function keptOf(sentences, direction) {
  if (!sentences || direction === "") return null;
  const [from, to] = direction;
  return sentences.flatMap((query) => sentences.map((key) => query === from && key === to));
}

/**
 * How much of its attention a token of the one sentence gives to the tokens of the other, the mean over its tokens.
 * @param {Float32Array} map  n * n, [query, key]
 * @param {(string|null)[]} sentences
 * @param {string} direction
 * @returns {number}  0 to 1
 */
export function shareOf(map, sentences, direction) {
  const kept = keptOf(sentences, direction);
  const queries = sentences.filter((sentence) => sentence === direction[0]).length;
  return map.reduce((sum, weight, index) => (kept[index] ? sum + weight : sum), 0) / queries;
}
