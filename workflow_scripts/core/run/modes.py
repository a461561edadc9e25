"""Who may read a product: whoever may read a file created there, as umask and folder ask.

Libraries write files that only their owner may read, such as safetensors', and copies keep a mode.
"""

import shutil
from pathlib import Path
from stat import S_IMODE


def follow(product: Path) -> None:
    """Give a file, or a directory with all in it, the modes of new ones next to it."""
    probe = product.with_name(f"{product.name}.mode")
    probe.mkdir(exist_ok=True)
    try:
        (probe / "file").touch()
        of_directory, of_file = (S_IMODE(path.stat().st_mode) for path in (probe, probe / "file"))
    finally:
        shutil.rmtree(probe)
    for path in [product, *product.rglob("*")]:
        wanted = of_directory if path.is_dir() else of_file
        if not path.is_symlink() and S_IMODE(path.stat().st_mode) != wanted:
            path.chmod(wanted)
