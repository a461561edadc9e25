"""Tables as people read them: rounded, and in LaTeX."""

from pathlib import Path

import pandas as pd
import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.report import printed


@pytest.mark.parametrize(
    ("cells", "rounded"),
    [
        (["4.67449", "4.65031"], ["4.674", "4.650"]),
        (["95.8333", "-2.5", ""], ["95.83", "-2.50", ""]),
        (["36.5", "100"], ["36.5", "100.0"]),  # no decimals are added
        (["300", "1"], ["300", "1"]),
        (["0.5", "0.00000123"], ["0.5000", "1.2e-06"]),
        (["0.999001", "0"], ["0.9990", "0.0000"]),
        (["1e-05", "2e-05"], ["1.0e-05", "2.0e-05"]),
        (["0.0", "0.0"], ["0.0", "0.0"]),
    ],
)
def test_rounded(cells: list[str], rounded: list[str]) -> None:
    assert printed.rounded(cells) == rounded


def test_columns_of_numbers() -> None:
    assert printed.is_number(["1", "", "-2.5e3"])
    assert not printed.is_number(["1", "2-10"])
    assert not printed.is_number(["", ""])
    assert not printed.is_number(["nan", "1"])


def test_words_stay_and_truth_is_yes_or_no(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("head,silver,n\n2-10,True,3\nNA,False,\n", encoding="utf-8")
    shown = printed.readable(printed.read(path))
    assert shown.to_dict("list") == {
        "head": ["2-10", "NA"],
        "silver": ["yes", "no"],
        "n": ["3", ""],
    }


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"table\.csv: not a table"):
        printed.read(path)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("50% & $x$ #1 a_b {c}", r"50\% \& \$x\$ \#1 a\_b \{c\}"),
        ("~ ^ \\", r"\textasciitilde{} \textasciicircum{} \textbackslash{}"),
        ("<a> |", r"\textless{}a\textgreater{} \textbar{}"),
        ("[CLS]", "{[}CLS{]}"),  # after a row's end [ would begin an argument
        ("− × ≤ ≥ →", r"$-$ $\times$ $\le$ $\ge$ $\rightarrow$"),
    ],
)
def test_latex_escapes(text: str, escaped: str) -> None:
    assert printed.escaped(text) == escaped
    table = printed.latex(pd.DataFrame({text: [text], "n": ["-2.5"]}), text, "name")
    assert table.count(escaped) == 3 - ("_" in text)  # caption, cell; names lose underscores
    assert r"& $-$2.5 \\" in table


def test_latex_is_booktabs_and_breaks_long_tables() -> None:
    short = printed.latex(pd.DataFrame({"a": ["x"]}), "Title", "name")
    assert all(
        part in short for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:name}")
    )
    assert short.startswith("% Needs \\usepackage{booktabs}\n\\begin{table}")
    long = printed.latex(pd.DataFrame({"a": ["x"] * (printed.LONG + 1)}), "Title", "name")
    assert long.count(r"\begin{longtable}") == long.count(r"\end{longtable}") == 1
    assert long.startswith("% Needs \\usepackage{booktabs,longtable}")


def test_latex_alignment() -> None:
    frame = pd.DataFrame({"a": ["x"], "b": ["1"], "c": ["word " * 20]})
    assert r"\begin{tabular}{lrp{5cm}}" in printed.latex(frame, "Title", "name")
