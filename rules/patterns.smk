"""patterns: classes of attention maps (Kovaleva et al. 2019, section 4.1)."""


localrules:
    contact_sheets,
    kovaleva2019_patterns,
    kovaleva2019_agreement,
    kovaleva2019_fig1,
    kovaleva2019_fig2,


from os.path import relpath

PATTERNS = config["patterns"]
# The annotated maps that come with the workflow; relative, so that a moved checkout is the same.
# Fine-tuned maps are stored beside their annotations; minilm-again.csv annotates a sample anew.
ANNOTATED = relpath(Path(workflow.basedir) / "annotations")
PRETRAINED_MAPS = f"{ANNOTATED}/minilm.csv"
STORED_MAPS = [f"{ANNOTATED}/minilm-finetuned.{ending}" for ending in ("csv", "h5")]
OWN_ANNOTATIONS = [annotated["file"] for annotated in PATTERNS["annotations"]]
# The caches, written <model>/<cache>, that the study's own annotated maps come from.
OWN_CACHES = [name for annotated in PATTERNS["annotations"] for name in annotated["caches"]]
# Task, stage and seed of every cache whose maps are classified.
CLASSIFIED = [[task, "pretrained", 0] for task in TASKS]
CLASSIFIED += [[task, "fine-tuned", seed] for task in TASKS for seed in SEEDS]
MAP_PATTERNS = KOVALEVA | {"subcategory": "4.1 Patterns"}


use rule model_step as pattern_classifier with:
    input:
        annotations=OWN_ANNOTATIONS,
        builtin=[PRETRAINED_MAPS] if PATTERNS["builtin"] else [],
        stored=STORED_MAPS if PATTERNS["builtin"] else [],
        caches=[
            f"<results>/{Path(name).parent}/attention/{Path(name).name}.h5" for name in OWN_CACHES
        ],
    output:
        classifier="<results>/patterns/classifier.safetensors",
        folds="<results>/patterns/folds.parquet",
        confusion=listed(
            "<results>/patterns/confusion.csv",
            "confusion of the classes",
            MAP_PATTERNS,
            caption="kovaleva2019-confusion",
        ),
        maps="<results>/patterns/typical.parquet",
    pathvars:
        job="patterns/pattern_classifier",
    priority: 10  # long: best not left for the end
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        **step("patterns/pattern_classifier.py"),
        cache_names=OWN_CACHES,
        n_folds=PATTERNS["folds"],
        epochs=PATTERNS["epochs"],
        learning_rate=PATTERNS["learning_rate"],
        seed=config["seed"],


use rule model_step as pattern_shares with:
    input:
        classifier=rules.pattern_classifier.output.classifier,
        caches=[
            *expand(rules.extract_task.output.shard, task=TASKS, allow_missing=True),
            *expand(rules.extract_checkpoint.output.shard, **PRETRAINED_RUNS),
        ],
    output:
        shares=judged(measured("<results>/{model}/patterns/shares.parquet", "head_columns")),
    pathvars:
        job="patterns/{model}.pattern_shares",
    priority: 5  # long: best not left for the end
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        **step("patterns/pattern_shares.py"),
        names=CLASSIFIED,


# Asked for by name: maps of any cache to look at, and the file to write their classes into.
use rule analysis_step as contact_sheets with:
    input:
        attention="<results>/{model}/attention/{cache}.h5",
    output:
        sheets=directory("<results>/{model}/patterns/sheets/{cache}"),
    pathvars:
        job="patterns/{model}.{cache}.contact_sheets",
    params:
        **step("patterns/contact_sheets.py"),
        model="{model}",
        corpus="{cache}",
        n_maps=PATTERNS["sheet_maps"],
        seed=config["seed"],


use rule analysis_step as kovaleva2019_patterns with:
    input:
        folds=rules.pattern_classifier.output.folds,
        shares=rules.pattern_shares.output.shares,
    output:
        classifier=table("kovaleva2019-classifier", "how well maps are classified", MAP_PATTERNS),
        table=table("kovaleva2019-patterns", "shares of the classes", MAP_PATTERNS),
    pathvars:
        job="patterns/{model}.kovaleva2019_patterns",
    params:
        **step("patterns/kovaleva2019_patterns.py"),


use rule analysis_step as kovaleva2019_agreement with:
    input:
        first=PRETRAINED_MAPS,
        second=f"{ANNOTATED}/minilm-again.csv",
    output:
        table=table(
            "kovaleva2019-agreement",
            "how well two annotations agree",
            MAP_PATTERNS,
            wanted=PATTERNS["builtin"],
            per_model=False,
        ),
    pathvars:
        job="patterns/kovaleva2019_agreement",
    params:
        **step("patterns/kovaleva2019_agreement.py"),
        draws=1000,
        seed=config["seed"],


use rule analysis_step as kovaleva2019_fig1 with:
    input:
        maps=rules.pattern_classifier.output.maps,
    output:
        **figure("kovaleva2019-fig1", "Figure 1, classes of maps", MAP_PATTERNS),
    pathvars:
        job="patterns/{model}.kovaleva2019_fig1",
    params:
        **step("patterns/kovaleva2019_fig1.py"),


use rule analysis_step as kovaleva2019_fig2 with:
    input:
        shares=rules.pattern_shares.output.shares,
    output:
        **figure("kovaleva2019-fig2", "Figure 2, shares of the classes", MAP_PATTERNS),
    pathvars:
        job="patterns/{model}.kovaleva2019_fig2",
    params:
        **step("patterns/kovaleva2019_fig2.py"),
        model="{model}",
