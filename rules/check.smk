"""check: all model cards and prepared data, before a long run.

`snakemake --keep-going check` goes on after an error, so that it prints all of them.
"""

CHECK_TRANSLATION = []
if "translation" in config:
    CHECK_TRANSLATION = [rules.translation_pairs.output.pairs]
    if TRANSLATION_MODEL:
        CHECK_TRANSLATION += for_all(TRANSLATION_CARD, run=TRANSLATION_RUNS)


rule check:
    input:
        for_all(rules.model_card.output.model),
        expand("<results>/corpora/{corpus}.jsonl", corpus=used(CORPORA)),
        expand(rules.word_vectors.output.words, vectors=used(VECTORS)),
        expand(rules.task_annotation.output.examples, task=TASKS),
        for_all(rules.adopt_classifier.output.card, model=ADOPTED),
        rules.prepare_arct.output.table if ARCT else [],
        CHECK_TRANSLATION,
