"""Annotated maps of a user's own: from contact sheets to a classifier."""

import pandas as pd

from tests.workflow.tiny_study import TinyStudy


def test_contact_sheets_of_a_checkpoint_become_annotations(copied_study: TinyStudy) -> None:
    sheets = "results/tiny/tiny/patterns/sheets/mrpc.finetuned.1"
    copied_study.run(sheets)
    assert (copied_study.folder / sheets / "sheet-1.png").is_file()
    frame = pd.read_csv(copied_study.folder / sheets / "annotation.csv")
    classes = ["vertical", "diagonal", "vertical+diagonal", "block", "heterogeneous"]
    frame["class"] = [classes[number % 5] for number in range(len(frame))]
    frame.to_csv(copied_study.folder / "mine.csv", index=False)
    own = {"file": "mine.csv", "caches": ["tiny/mrpc.finetuned.1"]}
    copied_study.config["patterns"] |= {"builtin": False, "annotations": [own]}
    copied_study.write_config()
    copied_study.run("results/tiny/patterns/confusion.csv")
    confusion = pd.read_csv(copied_study.folder / "results/tiny/patterns/confusion.csv")
    assert confusion["n"].sum() == len(frame) == 30
