"""Functions of rules that read attention where the study stores none: jobs of on_the_fly.py."""

from snakemake.iocontainers import Wildcards

# The jobs, each with the model, the rules whose scripts it runs, and whether in one pass.
ON_THE_FLY: list[tuple[str, list, bool]] = []


def in_one_pass(*readers) -> None:
    """Let these rules of a chapter, whose `main` is in_one_pass, share a pass of the model.

    They do with those of other chapters that read the same corpus.
    """
    for model in SERVED[chapter]:
        for reader in readers:
            found = [of for name, of, shared in ON_THE_FLY if shared and name == model]
            same = [of for of in found if of[0].input.attention == reader.input.attention]
            if same:
                same[0].append(reader)
            else:
                ON_THE_FLY.append((model, [reader], True))


def by_example(*readers) -> None:
    """Let these rules of a chapter, which read a few examples, each run the model on those."""
    ON_THE_FLY.extend((model, [reader], False) for model in SERVED[chapter] for reader in readers)


def on_the_fly() -> list[tuple[str, list, bool]]:
    """The jobs of the study; none where it stores attention."""
    return [] if config["attention"]["store"] else ON_THE_FLY


def step_of(reader, model: str) -> dict:
    """What a rule would give its script for a model, but for the device and inputs that it unpacks.

    Those are of classifiers, whose attention has to be stored.
    """
    wildcards = Wildcards(fromdict={"model": model})

    def value(item):
        if callable(item):
            return value(item(wildcards))
        if isinstance(item, str):
            return item.replace("{model}", model).replace("<results>", RESULTS)
        if isinstance(item, dict):
            return item
        return [value(each) for each in item] if isinstance(item, Iterable) else item

    params = without(dict(reader.params.items()), ("device",))
    groups = {"input": reader.input, "output": reader.output, "params": params}
    step = {name: {k: value(v) for k, v in group.items()} for name, group in groups.items()}
    return {"script": step["params"]["script"], **step}


def files_in(values: Iterable) -> list[str]:
    """The paths in the values of a rule's inputs or outputs."""
    return [file for each in values for file in ([each] if isinstance(each, str) else each)]


def sources_on_the_fly(model: str, readers: list) -> dict[str, dict]:
    """What on_the_fly.py reads in the place of each attention cache of rules."""
    return sources_of(model, [step_of(reader, model) for reader in readers])


def sources_of(model: str, steps: list[dict]) -> dict[str, dict]:
    """What each attention cache of steps would be made of."""
    found = {}
    for file in files_in(value for step in steps for value in step["input"].values()):
        path = Path(file)
        if path.parent.name == "attention" and path.suffix == ".h5":
            folder = "tasks" if path.stem in TASKS else "corpora"
            found[file] = {
                "card": f"{RESULTS}/{model}/attention/model.json",
                "corpus": f"{RESULTS}/{folder}/{path.stem}.jsonl",
                "max_tokens": (CORPORA | TASKS)[path.stem]["max_tokens"],
            }
    return found


def read_on_the_fly(model: str, readers: list) -> list[str]:
    """The inputs of a job: what its rules read, and in the place of caches what these are made of."""
    sources, found = sources_on_the_fly(model, readers), []
    for reader in readers:
        for file in files_in(step_of(reader, model)["input"].values()):
            source = sources.get(file)
            found += [source["card"], source["corpus"]] if source else [file]
    return list(dict.fromkeys(model_files(Wildcards(fromdict={"model": model})) + found))


def pass_of(model: str, readers: list, one_pass: bool = True, norms: bool = False) -> dict:
    """What on_the_fly.py is given to run the scripts of rules on a model, maybe on norms.

    The products of these are below mixing/.
    """
    steps = [step_of(reader, model) for reader in readers]
    for step in steps if norms else ():
        folder = f"{RESULTS}/{model}/mixing"
        output = {name: f"{folder}/{Path(file).name}" for name, file in step["output"].items()}
        step["output"] = output
    sources = sources_on_the_fly(model, readers) if one_pass else {}
    return {"steps": steps, "sources": sources, "one_pass": one_pass, "by_norm": norms}


def by_norm(reader) -> dict:
    """The params of a rule that runs another one's script on norms."""
    return {
        "steps": lambda w: pass_of(w.model, [reader], norms=True)["steps"],
        "sources": lambda w: sources_on_the_fly(w.model, [reader]),
        "one_pass": True,
        "by_norm": True,
        "batch_tokens": config["attention"]["batch_tokens"],
        "precision": config["precision"],
    }
