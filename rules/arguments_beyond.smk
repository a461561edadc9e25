"""arguments: beyond the paper, what models do with a changed cue, and the heads that carry it."""

arguments_beyond = Products("arguments", "niven2019", "Beyond the paper")


# Models that the chapter looks into: those trained on the original points.
ARGUMENT_KEPT = "<results>/{model}/arguments/bert.original.{seed}"
ARGUMENT_BOTH = [setup for setup in ("full", "W") if setup in ARGUMENTS["setups"]]
ARGUMENT_SEEDS = {"seed": ARGUMENTS["seeds"], "allow_missing": True}


use rule model_step as argument_reliance with:
    input:
        **contents(weights=ARGUMENT_KEPT),
        **MODEL,
        table=rules.prepare_arct.output.table,
        cues=rules.argument_cues.output.cues,
    output:
        reliance="<results>/{model}/arguments/bert.{seed}.reliance.parquet",
    priority: 5
    resources:
        **SAMPLING_JOB,
    params:
        **step("arguments/argument_reliance.py"),
        family="bert",
        setups=ARGUMENT_BOTH or ARGUMENTS["setups"],
        settings=lambda w: ARGUMENT_BERT[w.model],
        cue=ARGUMENTS["cues"]["cue"],
        max_cues=ARGUMENTS["reliance"]["cues"],
        same=ARGUMENTS["cues"]["same"],
        seed=lambda w: int(w.seed),
        sample_seed=config["seed"],


use rule argument_reliance as argument_reliance_words with:
    input:
        **ARGUMENT_VECTORS,
        **contents(weights="<results>/arguments/{family}.original.{seed}"),
        table=rules.prepare_arct.output.table,
        cues=rules.argument_cues.output.cues,
    output:
        reliance="<results>/arguments/{family}.{seed}.reliance.parquet",
    resources:
        **ARGUMENT_WORDS_JOB,
    params:
        family="{family}",
        settings=lookup("{family}", within=ARGUMENT_TRAINING),


arguments_beyond.drawn(
    "niven2019-reliance",
    "predictions after a cue is changed",
    input={
        "reliance": [
            *expand(rules.argument_reliance.output.reliance, **ARGUMENT_SEEDS),
            *expand(
                rules.argument_reliance_words.output.reliance,
                family=ARGUMENT_WORD_FAMILIES,
                **ARGUMENT_SEEDS,
            ),
        ]
    },
    params=INTERVALS,
    table="predictions after a cue is changed",
)


use rule model_step as argument_heads with:
    input:
        **contents(weights=ARGUMENT_KEPT),
        **MODEL,
        table=rules.prepare_arct.output.table,
    output:
        heads="<results>/{model}/arguments/bert.{seed}.heads.parquet",
    priority: 5
    resources:
        **SAMPLING_JOB,
    params:
        **step("arguments/argument_heads.py"),
        setups=ARGUMENT_BOTH or ARGUMENTS["setups"],
        cue=ARGUMENTS["cues"]["cue"],
        same=ARGUMENTS["cues"]["same"],
        mode=ARGUMENTS["heads"]["mode"],
        points=ARGUMENTS["heads"]["points"],
        settings=lambda w: ARGUMENT_BERT[w.model],
        pass_tokens=ARGUMENTS["heads"]["pass_tokens"],
        precision=config["precision"],
        seed=lambda w: int(w.seed),
        sample_seed=config["seed"],


arguments_beyond.drawn(
    "niven2019-heads",
    "heads that carry the cue",
    input={"heads": expand(rules.argument_heads.output.heads, **ARGUMENT_SEEDS)},
    params=TESTS,
    tables=lambda: {
        "table": arguments.measured(
            arguments_beyond.table("niven2019-heads", "heads that carry the cue")
        )
    },
)
