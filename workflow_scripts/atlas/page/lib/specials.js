/** The names that an encoder's own tokenizer has for what BERT calls [CLS] and [SEP]. */

import { withMinus } from "./format.js";

const BERT = { cls: "[CLS]", sep: "[SEP]" };

/** Of a model of `withOwnTokens`: {cls, sep}. */
export function tokenNames({ tokens }) {
  return tokens ?? BERT;
}

/**
 * The atlas with each encoder's own tokens as its texts have them, `<s>` for [CLS], in the words of its measures, too,
 * and with true minuses in the names of their baselines.
 * @param {object} atlas
 * @returns {object}
 */
export function withOwnTokens(atlas) {
  const models = atlas.models.map((model) => ({ ...model, tokens: model.causal || model.types ? BERT : tokensIn(atlas, model) }));
  const named = new Map(models.map(({ name, tokens }) => [name, (text) => text.replaceAll(BERT.cls, tokens.cls).replaceAll(BERT.sep, tokens.sep)]));
  const measures = atlas.measures.map((measure) => {
    const words = named.get(measure.model);
    return { ...measure, title: words(measure.title), about: words(measure.about), null_title: measure.null_title && withMinus(measure.null_title) };
  });
  return { ...atlas, models, measures };
}

// By the first text that begins and ends with special tokens.
function tokensIn({ segments }, { name }) {
  const segment = segments.find(({ model, word }) => model === name && word[0] === -1 && word.at(-1) === -1);
  return segment ? { cls: segment.tokens[0], sep: segment.tokens.at(-1) } : BERT;
}
