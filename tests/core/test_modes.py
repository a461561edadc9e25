"""Products are for whom the umask says, whatever modes libraries, copies and archives have."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from stat import S_IMODE

import pytest
import torch
from safetensors.torch import save_file

from workflow_scripts.core.run.job import Out, call

WEIGHTS = {"a": torch.zeros(3)}


@pytest.fixture(params=[0o022, 0o077, 0o027, 0o002], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def write(weights: Out, folder: Out, table: Out) -> None:
    """A step whose libraries choose modes of their own."""
    save_file(WEIGHTS, weights)
    folder.mkdir(mode=0o700)
    inner = Path(tempfile.mkdtemp(dir=folder))
    save_file(WEIGHTS, inner / "weights.safetensors")
    (inner / "read-only").touch(mode=0o400)
    (inner / "program").touch(mode=0o777)
    (inner / "broken").symlink_to("nowhere")
    table.write_text("a,b\n")


def test_modes_follow_the_umask(tmp_path: Path, umask: int) -> None:
    results = tmp_path / "results"
    call(write, {name: results / name for name in ("weights", "folder", "table")})
    found = [path for path in [results, *results.rglob("*")] if not path.is_symlink()]
    assert len(found) == 14  # products, what is in them, the list of that, and records
    for path in found:
        wanted = (0o777 if path.is_dir() else 0o666) & ~umask
        assert S_IMODE(path.stat().st_mode) == wanted, path


def test_the_group_of_a_shared_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results").chmod(0o2775)
    call(write, {name: tmp_path / "results" / name for name in ("weights", "folder", "table")})
    folders = [path for path in (tmp_path / "results/folder").rglob("*") if path.is_dir()]
    assert all(path.stat().st_mode & 0o2000 for path in folders)
