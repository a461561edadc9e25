"""untrained: the measures that need no task or annotation, of copies with random weights."""

UNTRAINED = config["untrained"]
UNTRAINED_SEEDS = range(1, 1 + UNTRAINED["copies"])


@cache
def untrained_groups(model: str) -> list[dict]:
    """What is run on a copy: steps that share a pass, steps by themselves, and those by norm."""
    chapters = {chapter for chapter, models in SERVED.items() if model in models} & set(config)
    shared, alone, by_norms = [], [], []
    if "surface" in chapters:
        shared = [rules.relative_position, rules.special_tokens, rules.same_word, rules.entropy]
    if "clusters" in chapters and CLUSTERS["corpus"] == SURFACE["corpus"]:
        shared.append(rules.head_distances)
        alone.append(rules.head_embedding)
    if "mixing" in chapters:
        by_norms.append(rules.special_tokens)
        alone += [rules.mixing_ratio] if mixing_ratios.wanted else []
        alone += [rules.value_zeroing] if mixing_zeroing.wanted else []
    if "battery" in chapters and battery_sinks.wanted:
        alone.append(rules.first_token_sinks)
    groups = [pass_of(model, shared), pass_of(model, alone, one_pass=False)]
    groups.append(pass_of(model, by_norms, norms=True))
    if "patterns" in chapters:
        groups.append(untrained_patterns(model))
    return [group for group in groups if group["steps"]]


def untrained_patterns(model: str) -> dict:
    """The shares of classes of maps, without those of classifiers, which a copy is not tuned to."""
    step, n = step_of(rules.pattern_shares, model), len(TASKS)
    step["input"] |= {name: step["input"][name][:n] for name in ("caches", "cards")}
    step["params"]["names"] = step["params"]["names"][:n]
    settings = {"one_pass": False, "by_norm": False}
    return {"steps": [step], "sources": sources_of(model, [step]), **settings}


def untrained_products(model: str, seeds=UNTRAINED_SEEDS) -> list[str]:
    """What the steps write, of each copy in untrained/<seed>/ of the model's folder."""
    groups = untrained_groups(model) if model in SERVED["untrained"] else []
    steps = [step for group in groups for step in group["steps"]]
    files = [file for step in steps for file in files_in(step["output"].values())]
    folder = f"{RESULTS}/{model}/"
    return [
        f"{folder}untrained/{seed}/{file.removeprefix(folder)}" for seed in seeds for file in files
    ]


def untrained_corpora(model: str) -> list[str]:
    """The texts that the steps read."""
    groups = untrained_groups(model)
    read = [source["corpus"] for group in groups for source in group["sources"].values()]
    read += [step["input"].get("corpus") for group in groups for step in group["steps"]]
    return list(dict.fromkeys(filter(None, read)))


def untrained_files(model: str) -> list[str]:
    """The model's files, and the network that classifies maps."""
    steps = [step for group in untrained_groups(model) for step in group["steps"]]
    networks = [step["input"]["classifier"] for step in steps if "classifier" in step["input"]]
    return model_files(Wildcards(fromdict={"model": model})) + networks


# Without wildcards, as what is measured depends on the model.
UNTRAINED_COPIES = product(SERVED["untrained"], UNTRAINED_SEEDS)
for untrained_number, (untrained_model, untrained_seed) in enumerate(UNTRAINED_COPIES, start=1):

    rule:
        name:
            f"untrained_{untrained_number}"
        input:
            files=lambda w, of=untrained_model: untrained_files(of),
            model=f"{RESULTS}/{untrained_model}/attention/model.json",
            corpora=untrained_corpora(untrained_model),
        output:
            products=untrained_products(untrained_model, [untrained_seed]),
        log:
            f"<logs>/attention/{untrained_model}.{untrained_seed}.untrained.log",
        benchmark:
            f"<benchmarks>/attention/{untrained_model}.{untrained_seed}.untrained.tsv"
        conda:
            "../envs/torch.yaml"
        threads: config["threads"]
        resources:
            **MODEL_JOB,
        params:
            **step("attention/untrained.py"),
            groups=lambda w, of=untrained_model: untrained_groups(of),
            n_segments=UNTRAINED["n_segments"],
            batch_tokens=config["attention"]["batch_tokens"],
            device=device,
            precision=config["precision"],
        script:
            "../workflow_scripts/{params.script}"
