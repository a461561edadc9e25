"""A text's maps in a notebook's frame, whose addresses are not the notebook's."""

from pathlib import Path

from playwright.sync_api import Frame

from tests.atlas.made_up import SCRIPT
from tests.web.conftest import Opener, Study
from tests.web.page import settle
from workflow_scripts import atlas

HOST = "<!doctype html><title>Notebook</title><p>notebook</p>{}"


def test_a_text_is_opened_as_it_was_typed(
    hostile: Study, show: Opener, tmp_path: Path, tiny_model_dir: Path
) -> None:
    shown = atlas.show(tiny_model_dir, SCRIPT, "the river is old")
    host = tmp_path / "notebook.html"
    host.write_text(HOST.format(shown._repr_html_()), encoding="utf-8")
    page = show(hostile, url=host.as_uri())
    frame: Frame = page.frames[1]
    frame.wait_for_selector('main[data-view="maps"]')
    settle(frame)
    chosen = frame.locator("#segment option:checked")
    assert chosen.get_attribute("value") == "own-1"
    assert chosen.inner_text().startswith("</" if "<" in shown.tokens else "[UNK]")
    frame.evaluate("location.replace('#view=head&head=1-2&segment=own-1')")
    frame.wait_for_selector('main[data-view="head"]')
    settle(frame)
    assert frame.locator(".tokens.query bdi").all_inner_texts() == shown.tokens
