"""atlas: one page on which every head is seen, and its data."""

from os.path import relpath

atlas = Products("atlas")

ATLAS = config["atlas"]
# The files of the page, so that an edited view builds it anew.
ATLAS_PAGE_FOLDER = ROOT / "workflow_scripts/atlas/page"
ATLAS_PAGE_FILES = ("*.html", "*.css", "*.js", "LICENSE*")
ATLAS_PAGE = sorted(
    relpath(file) for form in ATLAS_PAGE_FILES for file in ATLAS_PAGE_FOLDER.rglob(form)
)
# The texts that other chapters read, in the order of the page: first a sentence, which is soon read.
ATLAS_TEXTS = [
    ("syntax", "treebank", "annotated"),
    ("probes", "treebank", "annotated"),
    ("surface", "corpus", "text"),
    ("clusters", "corpus", "text"),
    ("coreference", "corpus", "annotated"),
    ("battery", "corpus", "text"),
]
# What each is, of each model that takes it; tasks come last.
ATLAS_KINDS = {
    model: {
        config[chapter][key]: kind
        for chapter, key, kind in ATLAS_TEXTS
        if chapter in config and model in SERVED[chapter]
    }
    | dict.fromkeys(
        (
            TASKS
            if ("finetuning" in config and model in SERVED["finetuning"])
            or (model in ADOPTED and config["attention"]["store"])
            else []
        ),
        "task",
    )
    for model in SERVED["atlas"]
}


use rule model_step as atlas_maps with:
    input:
        unpack(atlas_classifiers),
        **MODEL,
        attention_caches=lambda w: [
            f"<results>/{w.model}/attention/{name}.h5" for name in ATLAS_KINDS[w.model]
        ],
        # The segment that Figure 1 draws is shown too.
        drawings=lambda w: (
            [f"<results>/{w.model}/surface/drawings.parquet"]
            if "surface" in config and w.model in SERVED["surface"]
            else []
        ),
        texts=lambda w: [
            f"<results>/{'tasks' if kind == 'task' else 'corpora'}/{name}.jsonl"
            for name, kind in ATLAS_KINDS[w.model].items()
        ],
    output:
        maps="<results>/{model}/atlas/maps.json",
    resources:
        **SAMPLING_JOB,
    params:
        **step("atlas/atlas_maps.py"),
        kinds=lambda w: ATLAS_KINDS[w.model],
        segments=ATLAS["segments"],
        examples=ATLAS["examples"],
        most_tokens=MOST_DRAWN_TOKENS,
        seed=config["seed"],
        generated=lambda w: atlas_generated(w.model),
        tuned_seed=SEEDS[0],


use rule model_step as generated_maps with:
    input:
        **MODEL,
        texts=lambda w: [f"<results>/corpora/{name}.jsonl" for name in ATLAS_KINDS[w.model]],
    output:
        maps="<results>/{model}/atlas/generated_maps.json",
    resources:
        **SAMPLING_JOB,
    params:
        **step("atlas/generated_maps.py"),
        **{key: ATLAS[key] for key in ("segments", "prompt_tokens", "generated_tokens")},
        kinds=lambda w: ATLAS_KINDS[w.model],
        generated=lambda w: atlas_generated(w.model),


# Sentences of the reader's own; `make sentence` writes the file.
ATLAS_SENTENCES = f"{RESULTS}/sentences.txt"


use rule model_step as sentence_maps with:
    input:
        **MODEL,
        sentences=ATLAS_SENTENCES,
    output:
        maps="<results>/{model}/atlas/sentence_maps.json",
    resources:
        **SAMPLING_JOB,
    params:
        **step("atlas/sentence_maps.py"),


by_example(rules.atlas_maps)
# The cards of the study's translators, and the maps of all its models.
ATLAS_TRANSLATORS = []
ATLAS_MAPS = []
if Path(ATLAS_SENTENCES).is_file():
    ATLAS_MAPS += expand(rules.sentence_maps.output.maps, model=SERVED["atlas"])
ATLAS_MAPS += expand(rules.atlas_maps.output.maps, model=atlas.models(["encoder"]))
ATLAS_MAPS += expand(rules.generated_maps.output.maps, model=atlas.models(["decoder"]))

if "translation" in config:

    use rule model_step as translator_maps with:
        input:
            **TRANSLATION_INPUT,
        output:
            maps="<results>/translation/{run}.maps.json",
        resources:
            **SAMPLING_JOB,
        params:
            **step("atlas/translator_maps.py"),
            generation=TRANSLATION["generation"],
            examples=ATLAS["segments"],
            most_words=MOST_DRAWN_TOKENS,
            generated=origin(TRANSLATION_PAIRS) == "generated",
            seed=config["seed"],

    ATLAS_TRANSLATORS = expand(TRANSLATION_CARD, run=TRANSLATION_RUNS)
    ATLAS_MAPS += expand(rules.translator_maps.output.maps, run=TRANSLATION_RUNS)


# The models whose lists of heads the page offers.
ATLAS_LISTS = SERVED["context"] if "context" in config else []


use rule light_step as atlas_data with:
    input:
        # Translators are of the study, and models of their own in the atlas.
        translators=ATLAS_TRANSLATORS,
        cards=expand(rules.model_card.output.model, model=SERVED["atlas"]),
        products=lambda w: [file for path, _, of in MEASURED for file in for_all(path, **of)],
        maps=ATLAS_MAPS,
        untrained=lambda w: sum(map(untrained_of, SERVED["atlas"]), []),
        counts=[f"<results>/corpora/{name}.counts.csv" for name in used(TEXTS)],
    output:
        atlas="<results>/atlas.json",
    params:
        **step("atlas/atlas_data.py"),
        study=config["study"],
        seed=config["seed"],
        corpora={chapter: name for chapter, (_, name, _) in READ.items()},
        data=ORIGINS,
        labels=LABELS,
        adopted=list(ADOPTED),
        fewest=config.get("syntax", {}).get("fewest", 1),


use rule light_step as atlas_heads with:
    input:
        atlas=rules.atlas_data.output.atlas,
    output:
        csv="<results>/heads.csv",
        parquet="<results>/heads.parquet",
    params:
        **step("atlas/atlas_heads.py"),


use rule light_step as atlas_page with:
    input:
        unpack(atlas_findings),
        **contents(lists=expand("<results>/{model}/context/lists", model=ATLAS_LISTS)),
        atlas=rules.atlas_data.output.atlas,
        figures=lambda w: [entry.path for entry in ENTRIES if entry.kind == "figure"],
        sources=ATLAS_PAGE,
    output:
        page="<results>/atlas.html",
    params:
        **step("atlas/atlas_page.py"),
        megabytes=ATLAS["megabytes"],
        about=config["report"]["about"],
        listed=atlas_figures,
        origins=ORIGINS,
        # Read again where the page is built anew: the command that adds a sentence names it.
        file=relpath(workflow.configfiles[0]) if workflow.configfiles else "",


PAGES += [*rules.atlas_page.output, *rules.atlas_heads.output]
