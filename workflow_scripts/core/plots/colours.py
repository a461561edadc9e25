"""What colours mean: one look for one thing, in every figure.

The colours are Okabe and Ito's, and two of Tol's muted scheme. There are more things than colours,
so a group of things that may share a figure has colours of its own, and every entry a second
channel next to them: a marker or a dash. Some colours have one meaning in all figures:
ORANGE is the unchanged model or another baseline, GREY what is random, PALE what is of no kind,
BLACK a reference that is computed, such as uniform attention or chance, NEUTRAL heads or layers of
any kind, and BLUE in lines and maps is attention.
"""

from dataclasses import dataclass

from matplotlib import colormaps
from matplotlib.colors import LinearSegmentedColormap, to_hex

BLACK, WHITE = "#000000", "#FFFFFF"
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, YELLOW = "#E69F00", "#56B4E9", "#F0E442"
INDIGO, WINE = "#332288", "#882255"
NEUTRAL, GREY, PALE, FAINT = "#4D4D4D", "#666666", "#CCCCCC", "#EBEBEB"
SILVER = "#999999"
REQUIRED, REQUIRED_EDGE = "#DCE6EF", "#8FA3B5"  # where the rule of a claim requires a number

HIGHLIGHT = VERMILLION  # what a drawing points at
UNCHANGED = ORANGE  # the line of the unchanged model, as in the papers
GUIDE = PALE  # a line at 0, or where two numbers are equal

MORE = "Blues"  # maps of amounts: darker means more
IN_GREY = "Greys"  # sheets that are read by eye, without a scale
AROUND_ZERO = "RdBu_r"  # maps of changes and correlations: red above 0, blue below
OF_SCORES = "RdBu"  # maps of changes of a score, where a fall is harm, and so red


@dataclass(frozen=True)
class Look:
    """How a thing is drawn: its name for people, its colour and what distinguishes it in grey."""

    name: str
    colour: str
    marker: str = "o"
    dash: str = "-"


# What a token is, as the goal of attention.
TOKENS = {
    "cls": Look("[CLS]", BLUE, "o"),
    "first": Look("first token", INDIGO, "*"),
    "sep": Look("[SEP]", VERMILLION, "s"),
    "punctuation": Look(". or ,", GREEN, "^"),
    "previous": Look("previous token", PURPLE, "D"),
    "next": Look("next token", SKY, "v"),
    "self": Look("same token", BLACK, "X"),
    "broad": Look("broad", WINE, "P"),
    "other": Look("other", PALE, "."),
}
# How what a head reads from a token is measured.
WAYS = {
    "weight": Look("by weight", BLUE, "o"),
    "norm": Look("by norm", VERMILLION, "s"),
}
# What preserves a token, next to what other tokens add to it.
PRESERVING = {
    "attention": Look("attention alone", BLUE, "o"),
    "residual": Look("with the residual connection", VERMILLION, "s"),
    "norm": Look("with the residual connection and layer norm", GREEN, "^"),
}
# What a head does, where it has one kind.
HEADS = {
    "syntactic": Look("syntactic", INDIGO, "D"),
    "frames": Look("frames", YELLOW, "v"),
    "coreference": Look("coreference", VERMILLION, "P"),
    "same word": Look("same word", GREEN, "X"),
    "position": Look("position", PURPLE, "s"),
    "special tokens": Look("special tokens", BLUE, "o"),
    "unclassified": Look("unclassified", PALE, "^"),
}
# What disabling a head shows, in the colours of AROUND_ZERO: harm is red, what is not shown grey.
HARM, BENEFIT = "#B2182B", "#2166AC"
EFFECTS = {
    "loss": Look("loss", HARM, "v"),
    "gain": Look("gain", BENEFIT, "^"),
    "equivalent": Look("equivalent", GREEN, "o"),
    "cannot tell": Look("cannot tell", PALE, "x"),
    "in all modes": Look("in all modes", HARM, "s"),
    "depends on the mode": Look("depends on the mode", PURPLE, "D"),
    "in some modes": Look("in some modes", ORANGE, "P"),
    "no effect shown": Look("no effect shown", PALE, "x"),
}
# Classes of maps; blue and red make purple.
CLASSES = {
    "vertical": Look("vertical", BLUE),
    "diagonal": Look("diagonal", VERMILLION),
    "vertical+diagonal": Look("vertical and diagonal", PURPLE),
    "block": Look("block", YELLOW),
    "heterogeneous": Look("heterogeneous", PALE),
}
FAMILIES = {
    "bert": Look("BERT", BLUE, "o"),
    "bov": Look("BoV", VERMILLION, "s"),
    "bilstm": Look("BiLSTM", GREEN, "^"),
}
# The attention of an encoder-decoder.
ATTENTION = {
    "encoder": Look("Enc-Enc", BLUE, "o"),
    "encoder-decoder": Look("Enc-Dec", VERMILLION, "s", "--"),
    "decoder": Look("Dec-Dec", GREEN, "^", ":"),
}
STRATEGIES = {
    "importance": Look("importance", BLUE, "o"),
    "ablation": Look("score with one head masked", VERMILLION, "s", "--"),
    "random": Look("random", GREY, "^", ":"),
}
VERDICTS = {
    "reproduced": Look("reproduced", GREEN, "P"),
    "carries over": Look("carries over", SKY, "o"),
    "does not carry over": Look("does not carry over", ORANGE, "^"),
    "not reproduced": Look("not reproduced", VERMILLION, "X"),
    "inconclusive": Look("inconclusive", BLACK, "D"),
    "not tested": Look("not tested", "#AAAAAA", "v"),
    "not run": Look("not run", "#DDDDDD", "x"),
}
# How a text is changed.
CHANGES = {
    "removed": Look("cue removed", SKY, "o"),
    "exchanged": Look("cue moved to the other warrant", PURPLE, "s"),
    "control": Look("other words removed", GREY, "^"),
}


def in_order(n: int) -> list[Look]:
    """Looks for `n` things in an order, such as layers or epochs: from dark to light.

    The colours are viridis' without its yellow end, which is hard to see on white.
    """
    scale = LinearSegmentedColormap.from_list(
        "ordered", colormaps["viridis"]([0.0, 0.2, 0.4, 0.6, 0.8])
    )
    shades = [to_hex(scale(i / max(1, n - 1))).upper() for i in range(n)]
    return [Look(str(i + 1), shades[i], "os^DvPX"[i % 7]) for i in range(n)]
