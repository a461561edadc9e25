"""The official ARCT files and the published adversarial set, fetched with pooch and checked."""

import logging
from pathlib import Path

import pooch

from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError, one_line
from workflow_scripts.core.run.job import Out

log = logging.getLogger(__name__)

_GITHUB = "https://raw.githubusercontent.com"
# At fixed commits, so that later changes do not reach a study.
_SEMEVAL = f"{_GITHUB}/habernal/semeval2018-task12/72a8d6a492efdd63b137195375e836107392e63a/data"
_RESULTS = (
    f"{_GITHUB}/habernal/semeval2018-task12-results/c5ce66793bee154ce35b051c7ae32c1cdb6f3763/data"
)
_ARCT2 = f"{_GITHUB}/IKMLab/arct2/2eb4502f/adversarial_dataset"
URLS = {
    "train-full.txt": f"{_SEMEVAL}/train/train-full.txt",
    "dev-full.txt": f"{_SEMEVAL}/dev/dev-full.txt",
    "test-only-data.txt": f"{_SEMEVAL}/test/test-only-data.txt",
    "test-truth.txt": f"{_RESULTS}/gold/truth.txt",
    "adversarial_dataset/claim_map.csv": f"{_ARCT2}/claim_map.csv",
    "adversarial_dataset/train-swapped.csv": f"{_ARCT2}/train-swapped.csv",
    "adversarial_dataset/train-adv-negated.csv": f"{_ARCT2}/train-adv-negated.csv",
    "adversarial_dataset/dev-adv-negated.csv": f"{_ARCT2}/dev-adv-negated.csv",
    "adversarial_dataset/test-adv-negated.csv": f"{_ARCT2}/test-adv-negated.csv",
}
SHA256 = {
    "train-full.txt": "dfdf96122d0fa08f4ff8aee9cde3f70a013f37da40d01955f1c7a7d23905d9ed",
    "dev-full.txt": "16f6d6ffdca3b8fe3c011ded04d251fed5f48d432a4e451e77632c9d213a5e02",
    "test-only-data.txt": "b970435a55fd143607dc78f7ce0de2b1a9833eff4b061948100f50af26a1273f",
    "test-truth.txt": "183a8a96ced4b45718f2380d8b1982240aa4035edc11c6be7570d2fb76ab5b57",
    "adversarial_dataset/claim_map.csv": (
        "4a4886aaf5fd2aae5dfac7b58e7ce001d360127d8e8ddd5797d9e348e4b0fe27"
    ),
    "adversarial_dataset/train-swapped.csv": (
        "41f2386c2ab49304b583b3dc98b46b98236cc7fbed1788f557ae69c4ea38f6c1"
    ),
    "adversarial_dataset/train-adv-negated.csv": (
        "ec3a589c5b6a4b13ceb77627d5d21888947a98f652da1cdb6c9577014da08869"
    ),
    "adversarial_dataset/dev-adv-negated.csv": (
        "7f8dff442ac8a5869ff4bb711071f77b565108a139955de48da9582b72498229"
    ),
    "adversarial_dataset/test-adv-negated.csv": (
        "46caf8359fca207e53f3e815e29ba89e4dbc58a384777d357167eeea88d18bef"
    ),
}


def fetch(folder: Path, urls: dict[str, str], sha256: dict[str, str]) -> dict[str, str]:
    """Fetch every file of `urls` into `folder` and check it; returns the SHA-256 of each.

    `sha256` has the known checksums. Raises InputError where a file cannot be fetched or does not
    match its checksum, and where a checksum belongs to no file.
    """
    for name in sha256.keys() - urls.keys():
        raise InputError(f"tasks.arct.sha256: {name!r} is no file; accepted: {', '.join(urls)}")
    registry = {name: sha256.get(name) for name in urls}
    remote = pooch.create(path=folder, base_url="", registry=registry, urls=urls)
    digests = {}
    for name, url in urls.items():
        try:
            path = remote.fetch(name)
        except Exception as error:  # of the network or the server, or a wrong checksum
            raise InputError(
                f"tasks.arct.fetch: {url}: not fetched ({one_line(error)}); connect this "
                "machine, or download the files elsewhere and give their directory as path"
            ) from error
        digests[name] = pooch.file_hash(path, "sha256")
    return digests


def main(fetched: Out, checksums: dict[str, str]) -> None:
    """Fetch the files to a directory; the log has their checksums.

    `checksums` replace those above.
    """
    for name, digest in fetch(fetched, URLS, SHA256 | checksums).items():
        log.info("%s: sha256 %s", name, digest)


if __name__ == "__main__":
    job.run(main, globals())
