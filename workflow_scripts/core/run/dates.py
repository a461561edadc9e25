"""Inputs that changed while a clock was wrong, so that their dates do not tell.

Snakemake takes a product for stale where an input is dated after it. A text that is edited after
the clock was set back is dated before what was made of its earlier version.
"""

from pathlib import Path

from workflow_scripts.core.integrity import provenance
from workflow_scripts.core.run.errors import InputError


def check_dates(results: Path) -> None:
    """Raise InputError for a recorded input that has changed and is not dated after its product.

    Of files without a record larger than provenance.CHECKED_BYTES, only the size is compared.
    """
    now: dict[Path, provenance.Content] = {}  # each input is read once
    for record in provenance.records(results):
        product = provenance.product_of(record)
        if not product.exists():
            continue
        for name, used in (provenance.read(product) or {"inputs": {}})["inputs"].items():
            path = Path(name)
            if not used or not path.exists() or _date(path) > _date(product):
                continue
            if path not in now:
                now[path] = _content(path)
            if not provenance.same(now[path], used):
                raise InputError(
                    f"{path}: differs from what {product} was made from, and is not dated later; "
                    f"the clock was set back, or its date was changed: touch {path}, and run again"
                )


def _date(path: Path) -> int:
    """When a file or directory was made, as Snakemake sees it, in nanoseconds."""
    mark = path / provenance.MARK
    return (mark if mark.exists() else path).stat().st_mtime_ns


def _content(path: Path) -> provenance.Content:
    """What is known of an input: of a product its record, of others their content."""
    record = provenance.read(path)
    if record is not None:
        return {key: record[key] for key in ("sha256", "size", "files") if key in record}
    size = provenance.extent(path)
    return size if size["size"] > provenance.CHECKED_BYTES else provenance.content(path)
