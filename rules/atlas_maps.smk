"""atlas: the texts whose maps are on the page, from the caches that the study has."""

# The texts that other chapters read, in the order of the page: first a sentence, which is soon read.
ATLAS_TEXTS = [
    ("syntax", "treebank", "annotated"),
    ("probes", "treebank", "annotated"),
    ("surface", "corpus", "text"),
    ("clusters", "corpus", "text"),
    ("coreference", "corpus", "annotated"),
]
ATLAS_KINDS = {
    config[chapter][key]: kind for chapter, key, kind in ATLAS_TEXTS if chapter in config
}
ATLAS_TASKS = list(TASKS) if "finetuning" in config else []
ATLAS_CACHES = [f"<results>/{{model}}/attention/{name}.h5" for name in [*ATLAS_KINDS, *ATLAS_TASKS]]
ATLAS_FILES = [f"<results>/corpora/{name}.jsonl" for name in ATLAS_KINDS]
ATLAS_FILES += [f"<results>/tasks/{task}.jsonl" for task in ATLAS_TASKS]
ATLAS_RUNS = [f"{task}.pretrained.{SEEDS[0]}" for task in ATLAS_TASKS]
ATLAS_ENTRIES = {name: (CORPORA | TASKS)[name] for name in [*ATLAS_KINDS, *ATLAS_TASKS]}
# Which texts are shown; the norms are of the same ones.
ATLAS_CHOICE = {
    "kinds": ATLAS_KINDS | dict.fromkeys(ATLAS_TASKS, "task"),
    "segments": ATLAS["segments"],
    "examples": ATLAS["examples"],
    "most_tokens": config.get("finetuning", {}).get("most_drawn_tokens", 40),
    "seed": config["seed"],
}
# The segment that Figure 1 draws is shown too.
ATLAS_DRAWINGS = rules.surface_drawings.output.drawings if "surface" in config else []


use rule model_step as atlas_norms with:
    input:
        model=rules.model_card.output.model,
        files=model_files,
        attention_caches=ATLAS_CACHES,
        drawings=ATLAS_DRAWINGS,
    output:
        norms="<results>/{model}/atlas/norms.json",
    pathvars:
        job="atlas/{model}.atlas_norms",
    resources:
        **SAMPLING_JOB,
    params:
        **ATLAS_CHOICE,
        **step("atlas/atlas_norms.py"),
        device=config["device"],


use rule model_step as atlas_maps with:
    input:
        **contents(checkpoints=[f"<results>/{{model}}/checkpoints/{run}" for run in ATLAS_RUNS]),
        model=rules.model_card.output.model,
        files=model_files,
        attention_caches=ATLAS_CACHES,
        texts=ATLAS_FILES,
        tuned=[f"<results>/{{model}}/attention/{run}.h5" for run in ATLAS_RUNS],
        cards=[f"<results>/{{model}}/checkpoints/{run}.json" for run in ATLAS_RUNS],
        tables=[f"<results>/tasks/{task}.parquet" for task in ATLAS_TASKS],
        drawings=ATLAS_DRAWINGS,
        norms=rules.atlas_norms.output.norms if ATLAS["norms"] else [],
    output:
        maps="<results>/{model}/atlas/maps.json",
    pathvars:
        job="atlas/{model}.atlas_maps",
    resources:
        **SAMPLING_JOB,
    params:
        **ATLAS_CHOICE,
        **step("atlas/atlas_maps.py"),
        generated=[name for name, entry in ATLAS_ENTRIES.items() if origin(entry) == "generated"],
        tuned_seed=SEEDS[0],
        device=config["device"],


# The cards of the study's translators, and the maps of all its models.
ATLAS_TRANSLATORS = []
ATLAS_MAPS = expand(rules.atlas_maps.output.maps, model=MODELS)

if "translation" in config:

    use rule model_step as translator_maps with:
        input:
            **TRANSLATION_INPUT,
        output:
            maps="<results>/translation/{run}.maps.json",
        pathvars:
            job="atlas/{run}.translator_maps",
        resources:
            **SAMPLING_JOB,
        params:
            **step("atlas/translator_maps.py"),
            generation=TRANSLATION["generation"],
            examples=ATLAS["segments"],
            most_words=ATLAS_CHOICE["most_tokens"],
            generated=origin(TRANSLATION_PAIRS) == "generated",
            device=config["device"],
            seed=config["seed"],

    ATLAS_TRANSLATORS = expand(TRANSLATION_CARD, run=TRANSLATION_RUNS)
    ATLAS_MAPS += expand(rules.translator_maps.output.maps, run=TRANSLATION_RUNS)
