"""A table's page: what it holds is text, whatever the table holds, and nothing leaves it."""

import base64
import csv
import hashlib
import html
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from workflow_scripts.report.table_pages import (
    LONG,
    Cell,
    Column,
    Link,
    Page,
    escaped,
    is_number,
    latex_table,
    main,
    read_texts,
    readable,
    render,
    rounded,
    table_page,
)

HOSTILE = "</script><script>alert(1)</script><!-- & \" ' \u202e right to left"


class Rows(HTMLParser):
    """The cells of the page's table, and the elements that it names."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self._cell = False

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        self._cell = self._cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.rows[-1][-1] += data


def read(page: str) -> Rows:
    parser = Rows()
    parser.feed(page)
    return parser


def page_of(frame: pd.DataFrame) -> str:
    about = {"title": HOSTILE, "study": "s", "caption": "<p>c</p>", "name": "n"}
    return render(table_page(frame, files={"csv": HOSTILE}, **about))


def test_hostile_text_is_text() -> None:
    page = page_of(pd.DataFrame({HOSTILE: [HOSTILE, "a"], "n": ["1.5", "-2"]}))
    found = read(page)
    assert [[cell.strip() for cell in row] for row in found.rows] == [
        [HOSTILE, "n"],
        [HOSTILE, "1.5"],
        ["a", "-2.0"],
    ]
    assert found.tags.count("script") == 2  # the files and the page's own
    data = re.search(r'<script type="application/json" id="files">(.*?)</script>', page, re.S)[1]
    assert json.loads(data) == {"csv": HOSTILE}


def test_the_policy_allows_the_one_script_and_no_request() -> None:
    page = page_of(pd.DataFrame({"a": ["1"]}))
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1])
    script = re.search(r'<script type="module">(.*?)</script>', page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"""(src|href)=["'](https?:)?//|url\(|@import""", page)


def test_numbers_stand_to_the_right_and_are_sorted_as_written() -> None:
    page = page_of(pd.DataFrame({"head": ["2-10"], "ci_low": ["0.1234567"]}))
    assert re.search(r'<td class="number" data-sort="0.1234567">0.1235\s*</td>', page)
    assert re.search(r"<td>2-10\s*</td>", page)
    assert '<th scope="col" aria-sort="none" class="number" data-name="ci_low">' in page


def test_links_know_both_places() -> None:
    link = Link("Atlas", "r/s/atlas.html", "../../atlas.html", "../0123/atlas.html", "#model=m")
    about = {"title": "t", "study": "s", "caption": "", "name": "n"}
    cell = Cell("a", links=(link,))
    page = render(Page(columns=[Column("a", "a")], rows=[[cell]], **about))
    assert 'href="../../atlas.html#model=m"' in page
    assert 'data-report="../0123/atlas.html#model=m"' in page
    assert 'data-path="r/s/atlas.html"' in page


def test_a_page_and_a_latex_file_are_written_next_to_each_table(tmp_path: Path) -> None:
    tables = [tmp_path / f"{name}.csv" for name in ("one", "two")]
    for table in tables:
        table.write_text(f"name,n,head_from_0\n{table.stem},0.12345,7\n", encoding="utf-8")
    caption = tmp_path / "caption.rst"
    caption.write_text('About *{{ snakemake.config["study"] }}*.', encoding="utf-8")
    main(
        tables,
        [caption, caption],
        [table.with_suffix(".html") for table in tables],
        [table.with_suffix(".tex") for table in tables],
        ["One", "Two"],
        {"study": "s"},
    )
    for table in tables:
        page = table.with_suffix(".html").read_text(encoding="utf-8")
        assert "About <em>s</em>." in page
        assert f"<h1>{table.stem.capitalize()}</h1>" in page
        files = json.loads(re.search(r'id="files">(.*?)</script>', page, re.S)[1])
        assert list(csv.reader(io.StringIO(files["csv"])))[1] == [table.stem, "0.12345", "7"]
        assert "head from 0" not in page and "count from 1" in page
        assert files["tex"] == table.with_suffix(".tex").read_text(encoding="utf-8")
        assert latex_table(readable(read_texts(table)), "x", "y").count("0.1235") == 1


@pytest.mark.parametrize(
    ("cells", "shown"),
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
def test_rounded(cells: list[str], shown: list[str]) -> None:
    assert rounded(cells) == shown


def test_columns_of_numbers() -> None:
    assert is_number(["1", "", "-2.5e3"])
    assert not is_number(["1", "2-10"])
    assert not is_number(["", ""])
    assert not is_number(["nan", "1"])


def test_words_stay_and_truth_is_yes_or_no(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("head,silver,n\n2-10,True,3\nNA,False,\n", encoding="utf-8")
    shown = readable(read_texts(path))
    assert shown.to_dict("list") == {
        "head": ["2-10", "NA"],
        "silver": ["yes", "no"],
        "n": ["3", ""],
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("50% & $x$ #1 a_b {c}", r"50\% \& \$x\$ \#1 a\_b \{c\}"),
        ("~ ^ \\", r"\textasciitilde{} \textasciicircum{} \textbackslash{}"),
        ("<a> |", r"\textless{}a\textgreater{} \textbar{}"),
        ("[CLS]", "{[}CLS{]}"),  # after a row's end [ would begin an argument
        ("− × ≤ ≥ →", r"$-$ $\times$ $\le$ $\ge$ $\rightarrow$"),
    ],
)
def test_latex_escapes(text: str, words: str) -> None:
    assert escaped(text) == words
    table = latex_table(pd.DataFrame({text: [text], "n": ["-2.5"]}), text, "name")
    assert table.count(words) == 3 - ("_" in text)  # caption, cell; names lose underscores
    assert r"& $-$2.5 \\" in table


def test_latex_is_booktabs_and_breaks_long_tables() -> None:
    short = latex_table(pd.DataFrame({"a": ["x"]}), "Title", "name")
    assert all(
        part in short for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:name}")
    )
    assert short.startswith("% Needs \\usepackage{booktabs}\n\\begin{table}")
    long = latex_table(pd.DataFrame({"a": ["x"] * (LONG + 1)}), "Title", "name")
    assert long.count(r"\begin{longtable}") == long.count(r"\end{longtable}") == 1
    assert long.startswith("% Needs \\usepackage{booktabs,longtable}")
