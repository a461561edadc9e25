"""compare: what changed in each head between two models of one shape."""

compare = Products("compare", COMPARED)

COMPARE = config["compare"]
COMPARE_MODELS = [COMPARE["before"], COMPARE["after"]]
for model in COMPARE_MODELS:
    if model not in SERVED["compare"]:
        raise InputError(f"config: models.{model}.chapters: add compare, which compares this model")
SERVED["compare"] = COMPARE_MODELS[1:]  # the products are of the model after
# The rules whose measures are compared, by the start of these measures' names in the atlas.
COMPARE_READERS = [
    ("attention.", rules.relative_position),
    ("attention.", rules.special_tokens),
    ("attention.", rules.same_word),
    ("", rules.entropy),
]
if "syntax" in config:
    COMPARE_READERS.append(("syntax.", rules.syntax_scores))
if "coreference" in config:
    COMPARE_READERS.append(("coreference.", rules.coreference_scores))
if "battery" in config and set(COMPARE_MODELS) <= set(SERVED["battery"]):
    COMPARE_READERS.append(("role.", rules.random_repeats))
    COMPARE_READERS += [
        (start, reader)
        for start, name, reader in (
            ("sink.", "sinks", rules.first_token_sinks),
            ("copying.", "copying", rules.copying),
            ("retrieval.", "retrieval", rules.retrieval),
        )
        if name in BATTERY_FURTHER
    ]


def compare_steps(wildcards) -> list:
    """What each reader would be given for the model before, and for the one after.

    Both read the same random sequences.
    """
    steps = []
    for start, reader in COMPARE_READERS:
        before, after = (step_of(reader, model) for model in COMPARE_MODELS)
        if "sequences" in before["input"]:
            after["input"]["sequences"] = before["input"]["sequences"]
        steps.append((start, before, after))
    return steps


use rule model_step as head_changes with:
    input:
        attention=expand(SURFACE_CACHE, model=COMPARE_MODELS),
        models=expand(rules.model_card.output.model, model=COMPARE_MODELS),
        corpus=SURFACE_CORPUS,
        read=lambda w: [
            file
            for _, *steps in compare_steps(w)
            for step in steps
            for file in files_in(v for k, v in step["input"].items() if k != "files")
        ],
        files=lambda w: [
            file
            for model in COMPARE_MODELS
            for file in model_files(Wildcards(fromdict={"model": model}))
        ],
    output:
        heads=compare.measured("<results>/{model}/compare/heads.parquet"),
        table=compare.table("compare-heads", "heads that changed most"),
        matches=compare.table("compare-matches", "matched heads against random matches"),
    params:
        **step("compare/head_changes.py"),
        **without(COMPARE, ("before", "after")),
        **TESTS,
        steps=compare_steps,


compare.drawn(
    "compare-divergence",
    "how much each head's maps changed",
    input={"heads": rules.head_changes.output.heads},
)
