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
    ("", rules.entropy),
]
if "syntax" in config:
    COMPARE_READERS.append(("syntax.", rules.syntax_scores))
if "coreference" in config:
    COMPARE_READERS.append(("coreference.", rules.coreference_scores))


def compare_steps(wildcards) -> list:
    """What each reader would be given for the model before, and for the one after."""
    return [
        (start, *(step_of(reader, model) for model in COMPARE_MODELS))
        for start, reader in COMPARE_READERS
    ]


use rule analysis_step as head_changes with:
    input:
        attention=expand(SURFACE_CACHE, model=COMPARE_MODELS),
        models=expand(rules.model_card.output.model, model=COMPARE_MODELS),
        corpus=SURFACE_CORPUS,
        read=lambda w: [
            file
            for _, *steps in compare_steps(w)
            for step in steps
            for file in files_in(step["input"].values())
        ],
    output:
        heads=compare.measured("<results>/{model}/compare/heads.parquet"),
        table=compare.table("compare-heads", "heads that changed most"),
        matches=compare.table("compare-matches", "matched heads against random matches"),
    params:
        **step("compare/head_changes.py"),
        **without(COMPARE, ("before", "after")),
        steps=compare_steps,
        seed=config["seed"],


compare.drawn(
    "compare-divergence",
    "how much each head's maps changed",
    input={"heads": rules.head_changes.output.heads},
)
