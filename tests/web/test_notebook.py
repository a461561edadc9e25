"""The page in a notebook's frame: its addresses, which there are not the notebook's, and saving."""

from pathlib import Path

from playwright.sync_api import Frame

from tests.atlas.made_up import SCRIPT
from tests.atlas.test_notebook import written
from tests.web.conftest import Opener, Study
from tests.web.page import settle
from workflow_scripts.atlas import Atlas

HOST = "<!doctype html><title>Notebook</title><p>notebook</p>{}"


def test_an_own_text_is_opened(
    hostile: Study, show: Opener, tmp_path: Path, tiny_model_dir: Path
) -> None:
    """As it was typed, with the maps of all heads; the other texts are there too."""
    atlas = Atlas(written(tmp_path, tiny_model_dir)).add_text(SCRIPT, "the river is old")
    host = tmp_path / "notebook.html"
    host.write_text(HOST.format(atlas._repr_html_()), encoding="utf-8")
    page = show(hostile, url=host.as_uri())
    frame: Frame = page.frames[1]
    frame.wait_for_selector('main[data-view="maps"]')
    settle(frame)
    chosen = frame.locator("#segment option:checked")
    assert chosen.get_attribute("value") == "own-1"
    assert chosen.inner_text().startswith("</" if "<" in atlas.tokens("own-1") else "[UNK]")
    assert frame.locator("#segment option").count() == 4
    frame.evaluate("location.replace('#view=head&head=1-2&segment=own-1')")
    frame.wait_for_selector('main[data-view="head"]')
    settle(frame)
    shown = frame.locator(".tokens.query bdi").all_inner_texts()
    assert shown == atlas.tokens("own-1")
