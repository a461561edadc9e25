"""The official ARCT files and the published adversarial set, fetched with pooch and checked."""

import logging
from dataclasses import dataclass
from pathlib import Path

import pooch

from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out

log = logging.getLogger(__name__)

_SEMEVAL = "https://raw.githubusercontent.com/habernal/semeval2018-task12/master/data"
_RESULTS = "https://raw.githubusercontent.com/habernal/semeval2018-task12-results/master/data"
_ARCT2 = "https://raw.githubusercontent.com/IKMLab/arct2/master/adversarial_dataset"


@dataclass(frozen=True)
class Remote:
    """Where a file comes from, and its SHA-256, empty where it is not known."""

    url: str
    sha256: str = ""


# Test files have no checksum here: they were not at hand when this list was made.
REMOTES = {
    "train-full.txt": Remote(
        f"{_SEMEVAL}/train/train-full.txt",
        "dfdf96122d0fa08f4ff8aee9cde3f70a013f37da40d01955f1c7a7d23905d9ed",
    ),
    "dev-full.txt": Remote(
        f"{_SEMEVAL}/dev/dev-full.txt",
        "16f6d6ffdca3b8fe3c011ded04d251fed5f48d432a4e451e77632c9d213a5e02",
    ),
    "test-only-data.txt": Remote(f"{_SEMEVAL}/test/test-only-data.txt"),
    "test-truth.txt": Remote(f"{_RESULTS}/gold/truth.txt"),
    "adversarial_dataset/claim_map.csv": Remote(
        f"{_ARCT2}/claim_map.csv",
        "4a4886aaf5fd2aae5dfac7b58e7ce001d360127d8e8ddd5797d9e348e4b0fe27",
    ),
    "adversarial_dataset/train-swapped.csv": Remote(
        f"{_ARCT2}/train-swapped.csv",
        "41f2386c2ab49304b583b3dc98b46b98236cc7fbed1788f557ae69c4ea38f6c1",
    ),
    "adversarial_dataset/train-adv-negated.csv": Remote(
        f"{_ARCT2}/train-adv-negated.csv",
        "ec3a589c5b6a4b13ceb77627d5d21888947a98f652da1cdb6c9577014da08869",
    ),
    "adversarial_dataset/dev-adv-negated.csv": Remote(
        f"{_ARCT2}/dev-adv-negated.csv",
        "7f8dff442ac8a5869ff4bb711071f77b565108a139955de48da9582b72498229",
    ),
    "adversarial_dataset/test-adv-negated.csv": Remote(f"{_ARCT2}/test-adv-negated.csv"),
}


def fetch(
    folder: Path, checksums: dict[str, str], remotes: dict[str, Remote] | None = None
) -> dict[str, str]:
    """Fetch every file into `folder`; returns the SHA-256 of each.

    `checksums` add to those above, or stand in their place. Raises InputError where a file cannot
    be fetched or is not what its checksum says, and where a checksum names no file.
    """
    remotes = REMOTES if remotes is None else remotes
    for name in checksums.keys() - remotes.keys():
        raise InputError(f"tasks.arct.sha256: {name!r} is no file; accepted: {', '.join(remotes)}")
    found = {}
    for name, remote in remotes.items():
        known = checksums.get(name, remote.sha256)
        try:
            path = pooch.retrieve(
                remote.url,
                known_hash=f"sha256:{known}" if known else None,
                fname=Path(name).name,
                path=folder / Path(name).parent,
            )
        except Exception as error:  # of the network, of the server or a wrong checksum
            reason = str(error).strip().split("\n")[0]
            raise InputError(
                f"tasks.arct.fetch: {remote.url}: not fetched ({reason}); connect this machine, or "
                "download the files elsewhere and give them as path"
            ) from error
        found[name] = pooch.file_hash(path, "sha256")
    return found


def main(fetched: Out, checksums: dict[str, str]) -> None:
    """Fetch the files to a directory; the log has their checksums, and says which were known."""
    fetched.mkdir()
    for name, digest in fetch(fetched, checksums).items():
        known = name in checksums or REMOTES[name].sha256
        log.info("%s: sha256 %s, %s", name, digest, "as known" if known else "not known before")


if __name__ == "__main__":
    job.run(main, globals())
