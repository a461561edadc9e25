"""pruning of decoders: nats per token of running text with heads or key-value groups gone."""

products_of("decoder")


use rule training_step as next_token_pruning with:
    input:
        model=rules.model_card.output.model,
        corpus=f"<results>/corpora/{ABLATION_TEXT['corpus']}.jsonl",
        files=model_files,
    output:
        importance=measured("<results>/{model}/pruning/next_token.importance.parquet"),
        pruned="<results>/{model}/pruning/next_token.curves.parquet",
    pathvars:
        job="pruning/{model}.next_token_pruning",
    priority: 5
    params:
        **step("pruning/next_token_pruning.py"),
        **ABLATION_TEXT_RUN,
        settings={
            key: PRUNING[key] for key in ("step", "strategies", "importance", "draws", "bootstrap")
        },


drawn(
    "michel2019-next-token-pruning",
    "decoders, pruning by strategy",
    PRUNING_SECTION,
    input={"curves": rules.next_token_pruning.output.pruned},
    tables={
        "table": table(
            "michel2019-next-token-pruning", "decoders, pruning by strategy", PRUNING_SECTION
        )
    },
)
