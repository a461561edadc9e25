"""battery: roles of a decoder's heads, each with a null (Olsson et al. 2022)."""

battery = Products("battery", "olsson2022", "Roles of heads")

BATTERY = config["battery"]
BATTERY_FURTHER = BATTERY["further_measures"]
# The tables of further roles, where the study has their tests.
BATTERY_SCORES = {
    test: [f"<results>/{{model}}/battery/{test}.parquet"] if test in BATTERY_FURTHER else []
    for test in ("copying", "retrieval")
}
battery_sinks, battery_copying, battery_retrieval = (
    Products("battery", "olsson2022", "Sinks, copying, retrieval", wanted=test in BATTERY_FURTHER)
    for test in ("sinks", "copying", "retrieval")
)
battery_causal = Products(
    "battery", "olsson2022", "Heads disabled", wanted="causal" in BATTERY_FURTHER
)
BATTERY_TEXT = f"<results>/corpora/{BATTERY['corpus']}.jsonl"


use rule torch_step as repeated_sequences with:
    input:
        **MODEL,
    output:
        sequences="<results>/{model}/battery/sequences.parquet",
    localrule: True
    params:
        **step("battery/inputs.py"),
        n_sequences=BATTERY["n_sequences"],
        length=BATTERY["length"],
        seed=config["seed"],


use rule model_step as random_repeats with:
    input:
        **MODEL,
        sequences=rules.repeated_sequences.output.sequences,
    output:
        random="<results>/{model}/battery/random_repeats.parquet",
    params:
        **step("battery/random_repeats.py"),
        **INTERVALS,
        threshold=BATTERY["threshold"],
        batch_tokens=config["attention"]["batch_tokens"],


use rule model_step as natural_repeats with:
    input:
        **MODEL,
        corpus=BATTERY_TEXT,
        random=rules.random_repeats.output.random,
    output:
        roles=battery.measured("<results>/{model}/battery/roles.parquet"),
    params:
        **step("battery/natural_repeats.py"),
        **TESTS,
        max_tokens=TEXTS[BATTERY["corpus"]]["max_tokens"],
        n_segments=BATTERY["n_segments"],
        batch_tokens=config["attention"]["batch_tokens"],


battery.drawn(
    "olsson2022-roles",
    "heads by role",
    input={"roles": rules.natural_repeats.output.roles, "model": rules.model_card.output.model},
    params={"threshold": BATTERY["threshold"]},
    table="heads by role",
)


use rule model_step as first_token_sinks with:
    input:
        **MODEL,
        corpus=BATTERY_TEXT,
    output:
        sinks=battery_sinks.measured("<results>/{model}/battery/sinks.parquet"),
        table=battery_sinks.table("battery-sinks", "first-token sinks"),
        heads=battery_sinks.table("battery-sink-heads", "sinks by head"),
    params:
        **step("battery/first_token_sinks.py"),
        **BATTERY["sinks"],
        **INTERVALS,


battery_sinks.drawn(
    "battery-sinks",
    "first-token sinks",
    input={"sinks": rules.first_token_sinks.output.sinks},
    params={"threshold": BATTERY["sinks"]["threshold"]},
)


use rule model_step as copying with:
    input:
        **MODEL,
        sequences=rules.repeated_sequences.output.sequences,
    output:
        copying_scores=battery_copying.measured("<results>/{model}/battery/copying.parquet"),
        table=battery_copying.table("battery-copying", "copying by head"),
    params:
        **step("battery/copying.py"),
        **INTERVALS,
        threshold=BATTERY["threshold"],


use rule model_step as retrieval with:
    input:
        **MODEL,
        corpus=BATTERY_TEXT,
    output:
        retrieval_scores=battery_retrieval.measured("<results>/{model}/battery/retrieval.parquet"),
        table=battery_retrieval.table("battery-retrieval", "retrieval by head"),
        needles=battery_retrieval.table("battery-needles", "needles found"),
    params:
        **step("battery/retrieval.py"),
        **BATTERY["retrieval"],
        **INTERVALS,


use rule model_step as generated_retrieval with:
    input:
        **MODEL,
        corpus=BATTERY_TEXT,
    output:
        scores=battery_retrieval.measured("<results>/{model}/battery/generated_retrieval.parquet"),
    params:
        **step("battery/generated_retrieval.py"),
        **without(BATTERY["retrieval"], ("threshold",)),
        **INTERVALS,


battery_retrieval.drawn(
    "battery-retrieval",
    "retrieval by head",
    input={
        "retrieval": rules.retrieval.output.retrieval_scores,
        "needles": rules.retrieval.output.needles,
    },
    params={"threshold": BATTERY["retrieval"]["threshold"]},
)


use rule model_step as causal_tests with:
    input:
        **MODEL,
        sequences=rules.repeated_sequences.output.sequences,
        corpus=BATTERY_TEXT,
        roles=rules.natural_repeats.output.roles,
        sinks=rules.first_token_sinks.output.sinks,
        others=sum(BATTERY_SCORES.values(), []),
    output:
        table=battery_causal.table("battery-causal", "heads of a role ablated"),
        doses=battery_causal.table("battery-doses", "heads of a role ablated, by dose"),
    params:
        **step("battery/causal_tests.py"),
        **BATTERY["causal"],
        **INTERVALS,


battery_causal.drawn(
    "battery-causal",
    "heads of a role ablated",
    input={"doses": rules.causal_tests.output.doses},
)


use rule light_step as role_correlations with:
    input:
        model=rules.model_card.output.model,
        roles=rules.natural_repeats.output.roles,
        copying=rules.copying.output.copying_scores,
        retrieval=BATTERY_SCORES["retrieval"],
        ablation=lambda w: [
            f"<results>/{model}/ablation/next_token.scores.parquet"
            for model in SERVED["ablation"]
            if model == w.model and "text" in config.get("ablation", {})
        ],
    output:
        table=battery_copying.table("battery-correlations", "correlations of scores over heads"),
    params:
        **step("battery/role_correlations.py"),
        **INTERVALS,


battery_copying.drawn(
    "battery-copying",
    "copying by head",
    input={
        "copying": rules.copying.output.copying_scores,
        "roles": rules.natural_repeats.output.roles,
        "correlations": rules.role_correlations.output.table,
    },
    params={"threshold": BATTERY["threshold"]},
)
