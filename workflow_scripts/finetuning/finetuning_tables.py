"""What fine-tuning changes in each head's maps: four measures, read from two caches in one pass.

Similarity before and after, attention to kinds of tokens, attention between linked words, and to
words that two sentences share (Kovaleva et al. 2019, sections 4.3 to 4.5, and 5).
"""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples, read_trees
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.bootstrap import INDEPENDENT, per_head
from workflow_scripts.finetuning.map_measures import (
    STAGES,
    KindAttention,
    LinkAttention,
    SharedWords,
    cosine,
    shared_spellings,
)
from workflow_scripts.finetuning.token_kinds import (
    LABELS,
    sentences_of,
    tokens_of_kinds,
    word_links,
    words_of_kinds,
)


def main(
    body: Path,
    tuned: Path,
    model: Path,
    card: Path,
    examples: Path,
    annotation: Path,
    similarity: Out,
    features: Out,
    links: Out,
    shared: Out,
    task: str,
    seed: int,
    bootstrap: int,
    labels: str,
) -> None:
    """Write each head's similarity between the stages and, for both, the other measures.

    `labels`, one of LABELS, states which words are subjects and objects.
    """
    corpus, trees = read_examples(examples), read_trees(annotation)
    cards = (read_card(model), read_card(card))
    with Cache(body, cards[0]) as before, Cache(tuned, cards[1]) as after:
        for cache in (before, after):
            cache.expect([example.id for example in corpus], str(examples))
        shape = (len(corpus), before.n_layers, before.n_heads)
        alike, to_kinds = np.empty(shape), {stage: KindAttention(shape) for stage in STAGES}
        along_links = {stage: LinkAttention(shape) for stage in STAGES}
        to_shared = {stage: SharedWords(shape) for stage in STAGES}
        annotated = zip(corpus, trees, before, after, strict=True)
        progress = job.progress(annotated, len(corpus), "examples")
        for index, (example, tree, *cached) in enumerate(progress):
            alike[index] = cosine(*(each.pattern for each in cached))
            words = words_of_kinds(tree, example, LABELS[labels])
            pairs = word_links(tree, sentences_of(tree), LABELS[labels])
            spellings = shared_spellings(tree.words, len(example.words[0]))
            for stage, each, of_stage in zip(STAGES, cached, cards, strict=True):
                kinds = tokens_of_kinds(words, each.word, each.ids, of_stage)
                to_kinds[stage].add(index, each.pattern, kinds)
                along_links[stage].add(index, each, pairs)
                to_shared[stage].add(index, each, spellings)
    frame = per_head({task: alike}, "task", "similarity", bootstrap, seed, INDEPENDENT)
    tables.write(frame.assign(seed=seed), similarity)
    for measured, out in ((to_kinds, features), (along_links, links), (to_shared, shared)):
        frames = [measured[stage].table(bootstrap, seed).assign(stage=stage) for stage in STAGES]
        tables.write(pd.concat(frames, ignore_index=True).assign(task=task, seed=seed), out)


if __name__ == "__main__":
    job.run(main, globals())
