"""patterns: classes of attention maps (Kovaleva et al. 2019, section 4.1)."""

patterns = Products("patterns", "kovaleva2019", "4.1 Patterns")

from os.path import relpath

PATTERNS = config["patterns"]
patterns_of_study = Products(
    "patterns", "kovaleva2019", "4.1 Patterns", per_model=False, wanted=PATTERNS["builtin"]
)
# The annotated maps that come with the workflow; relative, so that a moved checkout is the same.
# Fine-tuned maps are stored next to their annotations; minilm-again.csv annotates a sample anew.
PATTERN_ANNOTATIONS = relpath(ROOT / "annotations")
PATTERN_PRETRAINED_MAPS = f"{PATTERN_ANNOTATIONS}/minilm.csv"
PATTERN_STORED_MAPS = [f"{PATTERN_ANNOTATIONS}/minilm-finetuned.{end}" for end in ("csv", "h5")]
# The caches, written <model>/<cache>, that the study's own annotated maps come from.
PATTERN_OWN_CACHES = [name for annotated in PATTERNS["annotations"] for name in annotated["caches"]]
# Task, stage and seed of every cache whose maps are classified.
PATTERN_CLASSIFIED = [[task, "pretrained", 0] for task in TASKS]
PATTERN_CLASSIFIED += [[task, "fine-tuned", seed] for task in TASKS for seed in SEEDS]


use rule torch_step as pattern_classifier with:
    input:
        annotations=[annotated["file"] for annotated in PATTERNS["annotations"]],
        builtin=[PATTERN_PRETRAINED_MAPS] if PATTERNS["builtin"] else [],
        stored=PATTERN_STORED_MAPS if PATTERNS["builtin"] else [],
        caches=[
            f"<results>/{Path(name).parent}/attention/{Path(name).name}.h5"
            for name in PATTERN_OWN_CACHES
        ],
        cards=[card_of(*name.split("/")) for name in PATTERN_OWN_CACHES],
    output:
        classifier="<results>/patterns/classifier.safetensors",
        predictions="<results>/patterns/predictions.parquet",
        confusion=patterns.listed(
            "<results>/patterns/confusion.csv",
            "confusion of the classes",
            "kovaleva2019-confusion",
        ),
        maps="<results>/patterns/typical.parquet",
    priority: 10  # long: best not left for the end
    threads: config["threads"]
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        **step("patterns/pattern_classifier.py"),
        cache_names=PATTERN_OWN_CACHES,
        n_folds=PATTERNS["folds"],
        epochs=PATTERNS["epochs"],
        learning_rate=PATTERNS["learning_rate"],
        seed=config["seed"],


use rule torch_step as pattern_shares with:
    input:
        classifier=rules.pattern_classifier.output.classifier,
        caches=[
            *expand(rules.extract_task.output.attention, task=TASKS, allow_missing=True),
            *expand(rules.extract_checkpoint.output.attention, **FINETUNED_RUNS),
        ],
        cards=[
            *[rules.model_card.output.model] * len(TASKS),
            *expand(rules.finetune.output.card, **FINETUNED_RUNS),
        ],
    output:
        shares=patterns.measured("<results>/{model}/patterns/shares.parquet", "columns"),
    priority: 5  # long: best not left for the end
    threads: config["threads"]
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        **step("patterns/pattern_shares.py"),
        names=PATTERN_CLASSIFIED,


# Asked for by name: maps of any cache to look at, and the file to write their classes into.
use rule light_step as contact_sheets with:
    input:
        attention="<results>/{model}/attention/{cache}.h5",
        card=lambda w: card_of(w.model, w.cache),
    output:
        **folder("sheets", "<results>/{model}/patterns/sheets/{cache}"),
    params:
        **step("patterns/contact_sheets.py"),
        model="{model}",
        corpus="{cache}",
        n_maps=PATTERNS["sheet_maps"],
        seed=config["seed"],


use rule light_step as kovaleva2019_patterns with:
    input:
        predictions=rules.pattern_classifier.output.predictions,
        shares=rules.pattern_shares.output.shares,
        untrained=lambda w: [
            file for file in untrained_of(w.model) if file.endswith("patterns/shares.parquet")
        ],
    output:
        classifier=patterns.table("kovaleva2019-classifier", "how well maps are classified"),
        table=patterns.table("kovaleva2019-patterns", "shares of the classes"),
    params:
        **step("patterns/figures.py"),
        **INTERVALS,
        figure="kovaleva2019_patterns",


use rule light_step as kovaleva2019_agreement with:
    input:
        first=PATTERN_PRETRAINED_MAPS,
        second=f"{PATTERN_ANNOTATIONS}/minilm-again.csv",
    output:
        table=patterns_of_study.table("kovaleva2019-agreement", "how well two annotations agree"),
    params:
        **step("patterns/figures.py"),
        **INTERVALS,
        figure="kovaleva2019_agreement",


patterns.drawn(
    "kovaleva2019-fig1",
    "Figure 1, classes of maps",
    input={"maps": rules.pattern_classifier.output.maps},
)
patterns.drawn(
    "kovaleva2019-fig2",
    "Figure 2, shares of the classes",
    input={"shares": rules.pattern_shares.output.shares},
    params={"model": "{model}"},
)
