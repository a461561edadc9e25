"""The measures of the made-up atlas: every scale, every form of null, and what may be missing."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Form:
    """How a measure is made up: numbers between `low` and `high`, and what goes with them."""

    id: str
    paper: str
    group: str
    title: str
    unit: str
    range: tuple[float, float]
    null: float | str | None = None  # "heads": one for each head
    null_title: str | None = None
    task: str | None = None
    scale: str = "sequential"
    parts: str = "interval n"  # of: interval, n, ns (one n for each head), p, label, missing
    better: str | None = None


C, K, M, N = "clark2019", "kovaleva2019", "michel2019", "niven2019"
OFFSET = "best fixed offset"
FORMS = [
    Form("entropy.all", C, "Entropy", "Entropy, all tokens", "nats", (0.1, 4)),
    Form("entropy.cls", C, "Entropy", "Entropy, [CLS]", "nats", (0.1, 4)),
    Form("attention.cls", C, "Special tokens", "To [CLS]", "%", (0, 60)),
    Form("attention.sep", C, "Special tokens", "To [SEP]", "%", (0, 95)),
    Form("attention.punctuation", C, "Special tokens", "To . and ,", "%", (0, 50)),
    Form("position.previous", C, "Position", "To the previous token", "%", (0, 90)),
    Form("position.next", C, "Position", "To the next token", "%", (0, 90)),
    Form("gradient.sep", C, "Gradients", "Importance of [SEP]", "", (0, 0.3), parts="n"),
    Form(
        "syntax.best", C, "Syntax", "Best relation, minus the best fixed offset", "points",
        (-30, 60), 0.0, OFFSET, scale="diverging", parts="interval ns label", better="high",
    ),
    Form(
        "syntax.dobj", C, "Syntax", "dobj", "%", (5, 95), 40.0, OFFSET,
        parts="interval n missing", better="high",
    ),
    Form(
        "syntax.nsubj", C, "Syntax", "nsubj", "%", (5, 80), "heads", OFFSET,
        parts="interval n", better="high",
    ),
    Form(
        "coreference.antecedent", C, "Coreference", "Antecedent, all", "%", (10, 70), 27.0,
        "nearest mention", parts="interval ns", better="high",
    ),
    Form("frames.link", K, "Frames", "Frame link", "", (0, 0.4), 0.1, "all heads", parts="p n"),
    Form("patterns.class", K, "Maps", "Class of maps", "", (0, 5), scale="category", parts="n"),
    Form(
        "finetuning.sst2", K, "Fine-tuning", "Similarity, SST-2", "", (0.3, 1), task="sst2",
        parts="interval n", better="low",
    ),
    Form(
        "disabling.sst2", K, "Disabling", "Effect on SST-2", "points", (-4, 2), 0.0,
        "no effect", "sst2", "diverging", "interval p n",
    ),
    Form(
        "disabling.mnli", K, "Disabling", "Effect on MNLI", "points", (-3, 3), 0.0,
        "no effect", "mnli", "diverging", "p n missing",
    ),
    Form("importance.sst2", M, "Importance", "SST-2", "", (0, 0.02), task="sst2", parts="n"),
    Form(
        "cue.not", N, "Cues", "Margin of warrants with 'not'", "", (-0.2, 0.3), 0.0, "no cue",
        scale="diverging", parts="interval n",
    ),
    Form("other.constant", "beyond", "Other", "The same for every head", "", (1, 1), parts=""),
    Form("other.unknown", "beyond", "Other", "Known of no head", "", (0, 1), parts="missing all"),
]  # fmt: skip
TRANSLATION_FORMS = [
    Form(
        "translation.head.zero.test.bleu", M, "One head disabled", "Head disabled, BLEU", "BLEU",
        (-4, 1), 0.0, "no effect", "translation", "diverging", "interval p n", better="low",
    ),
    Form(
        "translation.importance", M, "Importance", "Importance", "", (0, 0.02), task="translation",
        parts="interval n", better="high",
    ),
]  # fmt: skip
