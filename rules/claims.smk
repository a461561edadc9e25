"""claims: what the papers say, judged on the study at hand."""


localrules:
    claim_verdicts,
    claims_figure,


from os.path import relpath

CLAIMS = config["claims"]
BUILTIN_CLAIMS = [relpath(Path(workflow.basedir) / "claims/published.csv")] * CLAIMS["builtin"]
# The predictions of ARCT's models that were trained on the original points.
ARCT_SEEDS, WORD_PREDICTIONS = [], []
if "original" in config.get("arguments", {}).get("train_on", []):
    ARCT_SEEDS = config["arguments"]["seeds"]
    WORD_PREDICTIONS = expand(
        "<results>/arguments/{family}.original.parquet", family=["bov", "bilstm"]
    )
# What claims are judged by, beside the printed tables: the other products of these chapters.
CLAIM_PRODUCTS = {
    "surface": ["position", "special_tokens", "entropy", "gradients"],
    "clusters": ["embedding"],
    "patterns": ["shares"],
    "finetuning": expand(
        "{task}.{seed}.{of}", task=TASKS, seed=SEEDS, of=["similarity", "features", "shared"]
    ),
    "ablation": expand("{task}.pretrained.{seed}.scores", task=TASKS, seed=SEEDS),
    "arguments": [f"bert.original.{seed}" for seed in ARCT_SEEDS],
    "pruning": expand("{task}.pretrained.{seed}.epochs", task=FINETUNE["every_epoch"], seed=SEEDS),
}
# Translators are of the study: every model's table has their claims, a case for each run.
TRANSLATION_JUDGED = []
if "translation" in config:
    TRANSLATION_JUDGED = expand(
        "<results>/translation/{run}.{of}.parquet",
        run=RUNS,
        of=["scores", "types", "curves"] + ["epochs"] * TRANSLATION_EPOCHS,
    )


use rule analysis_step as claim_verdicts with:
    input:
        published=BUILTIN_CLAIMS + CLAIMS["files"],
        model=rules.model_card.output.model,
        products=products_judged(CLAIM_PRODUCTS, WORD_PREDICTIONS + TRANSLATION_JUDGED),
    output:
        table=table("claims", "every published claim, judged", JUDGED),
        cases="<results>/{model}/claims/cases.parquet",
    pathvars:
        job="claims/{model}.claim_verdicts",
    params:
        **step("claims/claim_verdicts.py"),
        data=ORIGINS,
        translator=CLAIMS["translator"],


use rule analysis_step as claims_figure with:
    input:
        verdicts=rules.claim_verdicts.output.table,
    output:
        **figure("claims", "published numbers beside ours, drawn", JUDGED, "claims-figure"),
    pathvars:
        job="claims/{model}.claims_figure",
    params:
        **step("claims/claims_figure.py"),
