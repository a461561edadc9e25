"""Annotated maps of a user's own: from contact sheets to a classifier."""

import pandas as pd

from tests.workflow.house import House


def test_contact_sheets_of_a_checkpoint_become_annotations(copied_house: House) -> None:
    sheets = "results/tiny/tiny/patterns/sheets/mrpc.pretrained.1"
    copied_house.run(sheets)
    assert (copied_house.folder / sheets / "sheet-1.png").is_file()
    frame = pd.read_csv(copied_house.folder / sheets / "annotation.csv")
    classes = ["vertical", "diagonal", "vertical+diagonal", "block", "heterogeneous"]
    frame["class"] = [classes[number % 5] for number in range(len(frame))]
    frame.to_csv(copied_house.folder / "mine.csv", index=False)
    own = {"file": "mine.csv", "caches": ["tiny/mrpc.pretrained.1"]}
    copied_house.config["patterns"] |= {"builtin": False, "annotations": [own]}
    copied_house.write_config()
    assert {"pattern_classifier", "pattern_shares", "kovaleva2019_fig2"} <= copied_house.planned()
    copied_house.run("results/tiny/patterns/confusion.csv")
    confusion = pd.read_csv(copied_house.folder / "results/tiny/patterns/confusion.csv")
    assert confusion["n"].sum() == len(frame) == 30


def test_weights_of_every_epoch_are_kept_where_they_are_asked_for(house: House) -> None:
    checkpoints = house.folder / "results/tiny/tiny/checkpoints"
    assert (checkpoints / "mrpc.pretrained.1/epoch-2/model.safetensors").is_file()
    assert not (checkpoints / "sst2.pretrained.1/epoch-2").exists()
    assert not list(checkpoints.glob("*.work"))
