"""ablation on running text: nats per token that a model predicts, with heads disabled."""

# A study without language models need not name a text, and asks for none of these products.
ABLATION_TEXT = ABLATION.get("text", {"corpus": "none", "n_segments": 0, "modes": ["zero"]})
ABLATION_LABELS = ABLATION_TEXT.get("labels")
# Decoders predict next tokens; encoders with a head of their own, where a text is named, masked ones,
# or the labels of words.
ABLATION_PREDICTS = (
    model_sources.labels_tokens if ABLATION_LABELS else model_sources.predicts_masked
)
ABLATION_LANGUAGE_MODELS = [
    name
    for name in SERVED["ablation"]
    if config["models"][name]["kind"] == "decoder"
    or ("text" in ABLATION and ABLATION_PREDICTS(SOURCES[name]) is not False)
]
ABLATION_SCORELESS = set() if TASKS else {*SERVED["ablation"]} - {*ABLATION_LANGUAGE_MODELS}
if ABLATION_SCORELESS:
    raise InputError(
        f"config: models.{min(ABLATION_SCORELESS)}: ablation: no task, and no head in config.json "
        f"(architectures) for {'labels of words' if ABLATION_LABELS else 'masked tokens'}; add a "
        "task, or give the model chapters without ablation"
    )
ablation_text = Products(
    "ablation", "michel2019", "3 and 5 Masking heads", only=ABLATION_LANGUAGE_MODELS
)
ablation_text_estimates = Products(
    "ablation", "michel2019", "4.1 Attribution before ablation", only=ABLATION_LANGUAGE_MODELS
)

ablation_text_modes = ablation_text.when(len(ABLATION_TEXT["modes"]) > 1)
ABLATION_TEXT_UNITS = {"head": ABLATION_TEXT["modes"], "layer": ABLATION_TEXT["modes"]}
ABLATION_TEXT_UNITS |= {"all-but-one": ["zero"], "key-value group": ["zero"]}
# What every script that measures one is given.
ABLATION_TEXT_RUN = {
    "n_segments": ABLATION_TEXT["n_segments"],
    # Of labelled sentences the longest that most encoders read.
    "max_tokens": TEXTS.get(ABLATION_TEXT.get("corpus"), {}).get("max_tokens", 512),
    "pass_tokens": ABLATION["pass_tokens"],
    "seed": config["seed"],
}
ABLATION_CORPUS = ABLATION_LABELS or f"<results>/corpora/{ABLATION_TEXT['corpus']}.jsonl"


use rule model_step as next_token_sweep with:
    input:
        **MODEL,
        corpus=ABLATION_CORPUS,
    output:
        losses="<results>/{model}/ablation/next_token.losses.parquet",
    priority: 8
    params:
        **step("ablation/next_token_sweep.py"),
        **ABLATION_TEXT_RUN,
        units=ABLATION_TEXT_UNITS,
        reference=ABLATION["reference"],
        labelled=bool(ABLATION_LABELS),


use rule analysis_step as next_token_scores with:
    input:
        losses=rules.next_token_sweep.output.losses,
    output:
        scores=ablation_text.measured("<results>/{model}/ablation/next_token.scores.parquet"),
    params:
        **step("ablation/next_token_scores.py"),
        **TESTS,


use rule ablation_modes as ablation_modes_next_token with:
    input:
        losses=[rules.next_token_sweep.output.losses],
    output:
        table=ablation_text_modes.table(
            "next-token-modes",
            "running text, agreement between ablation methods",
            caption="ablation-modes",
        ),
        heads=ablation_text.measured(
            ablation_text_modes.table(
                "next-token-mode-heads",
                "running text, each head's verdict, by ablation method",
                caption="ablation-mode-heads",
            )
        ),


use rule training_step as next_token_attribution with:
    input:
        **MODEL,
        corpus=ABLATION_CORPUS,
    output:
        attribution="<results>/{model}/ablation/next_token.attribution.parquet",
    priority: 5
    params:
        **step("ablation/next_token_attribution.py"),
        **without(ABLATION_TEXT_RUN, ("pass_tokens",)),
        modes=[mode for mode in ABLATION_TEXT["modes"] if mode in ABLATION_ATTRIBUTABLE],
        reference=ABLATION["reference"],
        labelled=bool(ABLATION_LABELS),


use rule ablation_attribution as ablation_attribution_next_token with:
    input:
        losses=[rules.next_token_sweep.output.losses],
        attributions=[rules.next_token_attribution.output.attribution],
    output:
        table=ablation_text_estimates.table(
            "next-token-attribution",
            "running text, attribution against exact effects",
            caption="ablation-attribution",
        ),
        heads=ablation_text.measured(
            ablation_text_estimates.table(
                "next-token-attribution-heads",
                "running text, each head's attribution",
                caption="ablation-attribution-heads",
            )
        ),


ablation_text_estimates.drawn(
    "next-token-attribution",
    "running text, attribution against exact effects",
    caption="ablation-attribution-figure",
    input={"heads": rules.ablation_attribution_next_token.output.heads},
    params={"figure": "ablation_attribution_figure"},
    own="ablation_attribution_figure_next_token",
)


ablation_text.drawn(
    "ablation-next-token",
    "running text, one head ablated",
    input={"scores": rules.next_token_scores.output.scores},
    table="running text, heads and key-value groups disabled",
)
