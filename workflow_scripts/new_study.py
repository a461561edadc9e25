"""A study of one model on one text, as YAML that people edit on.

python -m workflow_scripts.new_study MODEL [TEXT] > mine.yaml
snakemake --cores 4 --configfile mine.yaml

MODEL is a directory in Hugging Face format, a GGUF file, an id on the hub (with @<revision>, else
the newest) or package:<package>/<path>. `make atlas` does all of this.
"""

import argparse
import re
import shutil
import string
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from workflow_scripts.ablation import labelled_tokens
from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.run import schema

WIKIPEDIA = (
    "package:gensim/test/test_data/"
    "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
)
HUB_ID = re.compile(r"(?:[\w.-]+/)?[\w.-]+(?:@[\w./-]+)?")
N_TEXTS, N_TOKENS, N_SENTENCES = 100, 128, 500
N_EXAMPLES = 100  # of a task
SCHEMAS = Path(__file__).parents[1] / "rules/schemas"
N_WORDS = 2000  # of a text, by which its language is known
TRANSLATOR = "encoder-decoder"
N_PAIRS, TARGET = 20, 64  # pairs of a split; tokens of a translation
PRUNED = 240  # passes over the pairs of a split for all orders of pruning
# Passes over all texts, by kind, and seconds that take no model: guesses. On two idle cores MiniLM
# took 94 s, SmolLM2's GGUF 343 s, a fine-tuned classifier 221 s.
PASSES = {"encoder": 5, "decoder": 9}
OVERHEAD = 80
ABLATION_SECONDS, ABLATED = 180, (10, 50)  # of a masked language model; its fewest and most texts
SENTENCES = 4  # of labelled words, which together are as long as a text
N_LINES = 20  # of a file, by which its form is known
MOST_STORED = 5e9  # bytes of maps
# Frequent words of English that are rare in other languages.
ENGLISH = frozenset(
    "the and of that this it you with they he she his their there which from would what but not "
    "could don't it's i'm we your who when about".split()
)
ENGLISH_SHARE = 0.1


@dataclass(frozen=True)
class Model:
    """What a study must know of a model; `seconds` are those of a pass over a text of N_TOKENS."""

    origin: str  # what `from` states
    name: str
    kind: str
    about: str  # for people
    shape: tuple[int, int]
    positions: int
    special: dict[str, int | None]
    seconds: float
    classifier: bool
    masked: bool  # with a head of its own that predicts masked tokens
    labels: tuple[str, ...] = ()  # of a classifier of tokens, by number

    @property
    def n_ablated(self) -> int:
        """The texts on which every head is disabled, that fit into ABLATION_SECONDS."""
        few, many = ABLATED
        return min(many, max(few, int(ABLATION_SECONDS / self.ablation_seconds)))

    @property
    def ablation_seconds(self) -> float:
        """Of a text: each head alone, alone left and each layer take half a pass, from there up."""
        layers, heads = self.shape
        return layers * (heads + 0.5) * self.seconds


def pinned(given: str) -> tuple[str, dict[str, str]]:
    """What `from` states of a model that a person names, and the source as a card has it.

    An id on the hub gets its commit. Raises InputError where there is no such thing.
    """
    if given.startswith("package:"):
        return given, {"package": given.removeprefix("package:")}
    if Path(given).exists():
        return given, {"path": given}
    if not HUB_ID.fullmatch(given):
        raise InputError(f"{given}: no such file or directory; correct the path")
    from huggingface_hub import HfApi

    name, _, revision = given.removeprefix("hub:").partition("@")
    try:
        commit = HfApi().model_info(name, revision=revision or None, timeout=20).sha
    except Exception as error:  # of any layer of the network below
        raise InputError(
            f"{given}: no such file or directory here, and not found on the hub "
            f"({one_line(error)}); correct the path, or connect this machine"
        ) from error
    return f"hub:{name}@{commit}", {"hub": name, "revision": str(commit)}


def examine(given: str) -> Model:
    """Open a model and time a pass. Raises InputError where it cannot be opened."""
    import torch
    from transformers import AutoModel

    from workflow_scripts.core.model import attention, gguf_files, models, running, weights
    from workflow_scripts.core.run import model_sources

    origin, source = pinned(given)
    directory = models.resolve(source)
    if model_sources.is_gguf(source):
        _, tokenizer, config, *_ = gguf_files.read_header(directory)
    else:
        base = model_sources.base_of(source) or directory
        config = weights.read_config(Path(base))
        if getattr(config, "vocab_size", None) is None:
            kind = config.model_type
            raise InputError(f"{given}: {kind}: it does not read text alone; use a model of text")
        if config.is_encoder_decoder:
            return _examine_translator(origin, name_of(given), directory)
        tokenizer = models.load_tokenizer(directory)
    if model_sources.must_convert(source):  # which takes long, and any weights run as long
        body = AutoModel.from_config(config, trust_remote_code=False).eval()
    else:
        body = models.load_body(directory, torch.device("cpu"))
    body = attention.open_attention(body.to(running.pick_device("auto")))
    positions = models.max_positions(body)
    ids = torch.arange(min(N_TOKENS, positions), device=body.device)[None]
    seconds = seconds_of(lambda: body(input_ids=ids))
    shape = attention.n_layers(body), attention.n_heads(body)
    kind = "encoder" if attention.is_bidirectional(body) else "decoder"
    special = models.special_tokens(tokenizer)
    heads = getattr(config, "architectures", None) or []
    classifier = any(head.endswith("ForSequenceClassification") for head in heads)
    masked = model_sources.predicts_masked({"path": str(directory)}) is True
    heads_of = {"classifier": classifier, "masked": masked}
    if model_sources.labels_tokens({"path": str(directory)}):
        heads_of["labels"] = tuple(weights.label_names(config))
    about = described(body, shape)
    named = origin, name_of(given), kind, about, shape
    return Model(*named, positions, special, seconds, **heads_of)


def _examine_translator(origin: str, name: str, directory: Path) -> Model:
    """An encoder-decoder, with the seconds of a pass over a pair of TARGET tokens each."""
    import torch
    from transformers import AutoModelForSeq2SeqLM

    from workflow_scripts.core.model import attention, running, translators, weights

    model, _ = weights.load(AutoModelForSeq2SeqLM, directory, whole=True)
    model = attention.open_attention(model.to(running.pick_device("auto")).eval())
    positions = min(TARGET, translators.positions_of(model) or TARGET)
    ids = torch.ones(1, positions, dtype=torch.long, device=model.device)
    seconds = seconds_of(lambda: model(input_ids=ids, decoder_input_ids=ids))
    shape = len(attention.sublayers(model)), attention.n_heads(model)
    about = described(model, shape)
    return Model(origin, name, TRANSLATOR, about, shape, positions, {}, seconds, False, False)


def seconds_of(run: Callable[[], Any]) -> float:
    """Of the fastest of four passes: the first is slow, others where the machine is busy."""
    import torch

    times = []
    with torch.inference_mode():
        for _ in range(4):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
    return min(times)


def described(model: Any, shape: tuple[int, int]) -> str:
    """A model for people: its type, size and heads."""
    n_weights = sum(parameter.numel() for parameter in model.parameters())
    layers, heads = shape
    return f"{model.config.model_type}, {n_weights / 1e6:.0f}M, {layers} layers of {heads} heads"


def of_translator(name: str, model: Model, text: str | None, before: Model | None) -> str:
    """The YAML of a study of an encoder-decoder. Raises InputError without sentence pairs."""
    from workflow_scripts.translation.translation_pairs import read_one_file

    if not text or before:
        raise InputError(
            f"{model.name}: an encoder-decoder is measured on sentence pairs; give TEXT=<.tsv of a "
            "sentence, a tab and its translation in each line>, and no BEFORE"
        )
    read_one_file(Path(text))
    settings = {"beams": 1, "max_new_tokens": model.positions}
    return f"""\
# Edit this and run it again: only what depends on an edit is made anew.
# Every key: docs/configuration.md.
study: {_name(name)}  # results are in results/{name}/
models: {{}}  # others than translators
translation:
  model: {_flow({"from": model.origin})}  # {model.about}; prefix of T5, source_lang and target_lang
  data: {_flow({"from": text})}  # two of five to choose heads, two to test them
  sentences: {N_PAIRS}  # of each; with more, intervals are narrower and all takes longer
  generation: {_flow(settings)}  # 5 beams are the paper's
  pruning: {{draws: 1}}  # random orders, next to those by importance
"""


def name_of(given: str) -> str:
    """What a model that a person names is called: a package by its name, others by their last."""
    package = given.startswith("package:")
    parts = given.removeprefix("package:").partition("@")[0].rstrip("/").split("/")
    return plain(parts[0 if package else -1])


def plain(name: str) -> str:
    """A name as entries of a study may have it."""
    stem = name.removesuffix(".gguf").removesuffix(".safetensors")
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_")[:40] or "mine"


def is_english(words: list[str]) -> bool:
    """Whether as many of these words are frequent ones as in English text."""
    frequent = sum(word.lower().strip(string.punctuation) in ENGLISH for word in words)
    return frequent > ENGLISH_SHARE * len(words)


def words_of(text: str) -> list[str]:
    """The first words of a text as the study reads it. Raises InputError where they are too few."""
    from workflow_scripts.corpora.segments import articles, windows_of

    found: list[str] = []
    counts: Counter[str] = Counter()
    for article in articles({"path": text}):
        windows_of(article, N_TOKENS, counts)
        found += [word for paragraph in article.paragraphs for word in paragraph.text.split()]
        if len(found) > N_WORDS:
            break
    if counts["windows"] < 2:
        raise InputError(
            f"{text}: {len(found)} words; intervals need two texts of {N_TOKENS} tokens: use a "
            "longer text"
        )
    return found


def is_labelled(text: str) -> bool:
    """Whether a file of texts has a column `label` next to them, in a format of tasks."""
    path = Path(text)
    if path.suffix not in (".tsv", ".csv", ".jsonl"):
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as opened:
        first = opened.readline()
    if path.suffix == ".jsonl":
        return re.search(r'"label"\s*:', first) is not None
    return "label" in re.split(r"[,\t]", first.strip().replace('"', ""))


def has_labelled_words(text: str) -> bool:
    """Whether a file has labelled words: 2 to 5 columns, as CoNLL's have, or lists of tokens."""
    from workflow_scripts.core.data.text_files import read_lines

    path = Path(text)
    if path.is_dir() or path.suffix in (".bz2", ".parquet"):
        return False
    first = [line for _, line in islice(read_lines(path), N_LINES) if line.strip()]
    if ".jsonl" in path.suffixes:
        return bool(first) and re.search(r'"tokens"\s*:', first[0]) is not None
    counts = {len(line.split("\t" if "\t" in line else None)) for line in first}
    return len(counts) == 1 and counts <= {2, 3, 4, 5}


def study(name: str, model: Model, text: str | None, before: Model | None = None) -> str:
    """The YAML of a study of this name; with `before`, of what changed from it to the model."""
    task = ""
    if text and model.classifier and is_labelled(text):
        task, tasks = plain(Path(text).stem), schema.assemble(SCHEMAS)["properties"]["tasks"]
        own = re.fullmatch(tasks["propertyNames"]["pattern"], task)
        task = task if own and task not in tasks["properties"] else f"own-{task}"
    if TRANSLATOR in (model.kind, before.kind if before else ""):
        return of_translator(name, model, text, before)
    tokens = min(N_TOKENS, *(each.positions for each in (model, before) if each))
    stored = 2 * N_TEXTS * model.shape[0] * model.shape[1] * tokens**2
    stored //= 1 if model.kind == "encoder" else 2
    labelled = bool(text and model.labels and not before and has_labelled_words(text))
    if labelled:
        for sentence in labelled_tokens.read(Path(text)):
            sentence.numbers(model.labels)
    read = None if task or labelled else text
    corpus, origin = ("wikipedia", WIKIPEDIA) if read is None else (plain(Path(read).stem), read)
    english = read is None or is_english(words_of(read))
    lines = [
        "# Edit this and run it again: only what depends on an edit is made anew.",
        "# Every key: docs/configuration.md.",
        f"study: {_name(name)}  # results are in results/{name}/",
        "models:",
    ]
    called_before = before and (before.name if before.name != model.name else f"{before.name}-0")
    for each, called in ((before, called_before), (model, model.name)):
        if each:
            entry = {"from": each.origin} | ({"task": task} if task and each is model else {})
            lines.append(f"  {_name(called)}: {_flow(entry)}  # {each.kind}: {each.about}")
    settings = {"from": origin, "n_segments": N_TEXTS, "max_tokens": tokens}
    lines += [
        "corpora:",
        f"  text:  # up to {N_TEXTS} texts of {tokens} tokens; with more, intervals narrow",
        f"    {_name(corpus)}: {_flow(settings)}",
    ]
    surface = {"surface": "attention to positions, special tokens, few or many tokens"}
    surface |= {"clusters": "which heads behave alike"}
    surface |= {"mixing": "attention weighted by the norms of what is read"}
    chapters = {} if model.kind == "encoder" else {"battery": "induction heads, sinks, copying"}
    if model.kind == "decoder" or None not in (model.special["cls"], model.special["sep"]):
        chapters |= surface
    else:
        lines.append("# No surface patterns: texts have no [CLS] before or no [SEP] after them.")
    if model.kind == "encoder" and english:
        lines += [
            "  treebanks:  # parsed by spaCy, so that the trees are a program's",
            f"    parsed: {{from: 'parse:{corpus}', n_sentences: {N_SENTENCES}}}",
        ]
        chapters |= {"syntax": "heads that find syntactic heads"}
    lines += [f"{chapter}: {{}}  # {what}" for chapter, what in chapters.items()]
    if task:
        lines += [
            f"tasks: {{{task}: {_flow({'from': text})}}}  # labels are the model's",
            f"ablation: {{examples: {N_EXAMPLES}, mean_units: []}}  # what is lost without a head",
            "# pruning: {}  # how many heads can go; takes longer",
        ]
    elif labelled:
        on = {"text": {"labels": text, "n_segments": SENTENCES * model.n_ablated}}
        lines.append(
            f"ablation: {_flow(on)}  # nats per labelled word that are lost without a head"
        )
    elif model.masked and not before and None not in map(model.special.get, ("cls", "mask")):
        on = {"text": {"corpus": corpus, "n_segments": model.n_ablated}}
        lines.append(f"ablation: {_flow(on)}  # nats per masked token that are lost without a head")
    if before:
        compared = {"before": called_before, "after": model.name}
        lines.append(f"compare: {_flow(compared)}  # what changed in a head")
    lines.append("# claims: {}  # what papers state, judged on this model")
    if stored > min(MOST_STORED, shutil.disk_usage(".").free / 4) and not (task or before):
        lines.append(
            "attention: {store: false}  # maps would take "
            f"{stored / 1e9:.0f} GB: measures are taken as the model runs"
        )
    return "\n".join([*lines, ""])


def _name(name: str) -> str:
    """A name as YAML reads it: one that looks like a number or a date needs quotes."""
    return f"'{name}'" if not isinstance(yaml.safe_load(name), str) else name


def _flow(entry: dict[str, Any]) -> str:
    """An entry on one line of YAML."""
    return yaml.safe_dump(entry, default_flow_style=True, sort_keys=False, width=10**6).strip()


def cost(model: Model, before: Model | None, ablated: bool) -> str:
    """What the study will take, in words; `ablated` heads are disabled on text."""
    seconds = model.seconds + (before.seconds if before else 0)
    total = OVERHEAD + PASSES.get(model.kind, 0) * N_TEXTS * seconds
    if model.kind == TRANSLATOR:  # each head off, and on alone, on two splits; then pruning
        layers, heads = model.shape
        total += N_PAIRS * seconds * (4 * layers * heads + PRUNED)
    if ablated:
        total += model.n_ablated * model.ablation_seconds
    minutes = total / 60
    return (
        f"{model.name}: {model.about}; a pass of {min(N_TOKENS, model.positions)} tokens took "
        f"{model.seconds:.2g} s, so {N_TEXTS} texts take up to {max(1, round(minutes))} minutes"
    )


def main() -> None:
    """Print the study, or write it to <name>.yaml unless it is there, and print that name."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", help="directory, GGUF file, id on the hub, package:<path>")
    parser.add_argument("text", nargs="?", help="file or directory; default: Wikipedia")
    parser.add_argument("--before", help="another model, from which this one was trained")
    parser.add_argument("--name", help="of the study; by default the model's")
    parser.add_argument("--write", action="store_true", help="to <name>.yaml, unless it is there")
    given = parser.parse_args()
    try:
        if given.text and not Path(given.text).exists():
            raise InputError(
                f"{given.text}: no such file or directory; correct the path of the text"
            )
        file = Path(f"{plain(given.name) if given.name else name_of(given.model)}.yaml")
        if given.write and file.exists():
            remedy = "NAME=<another name> makes another study, an edit of the file changes this one"
            tokens = yaml.scan(file.read_text("utf-8"))
            named = {Path(each.value) for each in tokens if isinstance(each, yaml.ScalarToken)}
            if given.text and Path(given.text) not in named:
                raise InputError(f"{file} is of another text; {remedy}")
            kept = f"{file} is kept, so MODEL and TEXT of this line are not read; {remedy}"
            print(kept, file=sys.stderr)
            print(file)
            return
        model = examine(given.model)
        before = examine(given.before) if given.before else None
        made = study(file.stem, model, given.text, before)
        if given.text and not model.classifier and is_labelled(given.text):
            note = (
                f"{given.text}: its labels are not read, as {model.name} is no classifier of texts"
            )
            print(note, file=sys.stderr)
        print(cost(model, before, "\nablation: {text" in made), file=sys.stderr)
        if given.write:
            file.write_text(made, encoding="utf-8")
        print(file if given.write else made, end="")
    except InputError as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
