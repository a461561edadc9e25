"""Whether the Hugging Face hub and other sites can be reached, and how large their files are."""

from collections.abc import Callable, Mapping
from typing import Any

from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.run.units import size

SECONDS = 5  # for an answer


class Network:
    """Asks for metadata; after one site did not answer at all, it is not asked again."""

    def __init__(self) -> None:
        self._silent: dict[str, str] = {}

    def of_hub(self, kind: str, repository: str, revision: str | None) -> dict[str, int]:
        """The bytes of each file of a model or dataset at a revision.

        Raises InputError where the hub cannot be reached, or has no such revision.
        """
        from huggingface_hub import HfApi, constants
        from huggingface_hub.errors import HfHubHTTPError

        where = f"hub: {repository} at {revision}"
        if constants.HF_HUB_OFFLINE:
            raise InputError(f"{where}: HF_HUB_OFFLINE is set, and it is not in the local cache")
        if "hub" in self._silent:
            raise self._unreachable(where, "hub")
        ask = getattr(HfApi(), f"{kind}_info")
        try:
            about = ask(repository, revision=revision, files_metadata=True, timeout=SECONDS)
        except HfHubHTTPError as error:
            first = str(error).strip().split("\n")[-1][:200]
            raise InputError(f"{where}: the hub refuses it ({first}); correct it") from error
        except Exception as error:  # of any layer below: no name, no route, no answer, no TLS
            self._silent["hub"] = one_line(error)
            raise self._unreachable(where, "hub") from error
        return {file.rfilename: file.size or 0 for file in about.siblings or ()}

    def local_or_hub(
        self, entry: Mapping[str, Any], read: Callable[[], tuple[Any, str]]
    ) -> tuple[Any, str]:
        """What `read` gives or, of a hub dataset that is not on this machine, the hub's answer."""
        if "hub" not in entry:
            return read()
        try:
            value, what = read()
        except InputError as error:
            if "cannot be fetched" not in str(error):
                raise
            files = self.of_hub("dataset", entry["hub"], entry["revision"])
            what = f"on the hub, {len(files)} files, {size(sum(files.values()))} in all"
            return None, f"{what}: downloaded when the study runs, and read then"
        return value, f"in the local cache: {what}"

    def _unreachable(self, where: str, site: str) -> InputError:
        return InputError(
            f"{where}: not on this machine, and offline: {site} cannot be reached within "
            f"{SECONDS} s ({self._silent[site]}); connect this machine, or download it elsewhere "
            "and set path"
        )
