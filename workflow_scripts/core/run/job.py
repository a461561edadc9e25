"""How a step runs: the same `main` as a rule's script and from a shell.

`main`'s parameters are the rule's own names. Those marked `Out` or `list[Out]` are outputs: `main`
writes to a partial path next to the final one, which takes its place only after `main` has
returned. A record next to each output states what it was made of (provenance.py).
"""

import argparse
import gc
import inspect
import json
import logging
import os
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.integrity import digests, full_disk, meaning, provenance
from workflow_scripts.core.integrity.hold import held
from workflow_scripts.core.integrity.provenance import PARTIAL
from workflow_scripts.core.run import modes

Out = Annotated[Path, "output"]
OUTPUTS = (Out, list[Out])
T = TypeVar("T")
log = logging.getLogger(__name__)
label = ""  # what figures of this process call their model, where the study has words for it


def run(main: Callable[..., None], namespace: dict[str, Any]) -> None:
    """Run `main` with the values of the Snakemake job, or of the command line without one.

    Ends the process with status 1 on an `InputError` (one line) or any other error (traceback);
    both stand in the rule's log. No output is left behind then.
    """
    snakemake = namespace.get("snakemake")
    path = Path(snakemake.log[0]) if snakemake and snakemake.log else None
    _start_logging(path)
    values = values_of(main, snakemake) if snakemake else _from_shell(main)
    _limit_threads(values.get("threads", snakemake.threads if snakemake else _shell_threads()))
    random.seed(values.get("seed", 0))
    global label
    label = snakemake.params.get("label", "") if snakemake else ""
    gc.freeze()  # what was imported stays: no collection need look at it
    try:
        with held(path):
            call(main, values, _of_job(main, snakemake) if snakemake else None)
    except InputError as error:
        log.error("Error: %s", error)
        sys.exit(1)
    except Exception as error:
        if full_disk.met_by(error):
            logging.raiseExceptions = False  # where the log has no room either
            log.error("Error: %s", full_disk.message(outputs_of(main, values)[0].parent))
            os._exit(1)  # HDF5 would crash over what it still holds
        name, kind = _script_of(main).name, type(error).__name__
        log.exception("Error: %s failed: %s: %s", name, kind, one_line(error))
        sys.exit(1)
    finally:
        gc.freeze()  # nor does the last one, as the process ends


def run_figure(namespace: dict[str, Any]) -> None:
    """Run one figure of a script that holds all of its chapter, each a function with outputs.

    It is the one that the rule's param `figure` names, or in a shell the first argument.
    """
    snakemake = namespace.get("snakemake")
    drawn = [name for name, item in namespace.items() if _is_step(item)]
    if snakemake:
        name = snakemake.params.figure
    else:
        parser = argparse.ArgumentParser(description=namespace["__doc__"])
        parser.add_argument("figure", choices=drawn)
        name = parser.parse_args(sys.argv[1:2]).figure
        sys.argv[:2] = [f"{sys.argv[0]} {name}"]
    run(namespace[name], namespace)


def _is_step(item: Any) -> bool:
    return inspect.isfunction(item) and bool(output_names(item))


def call(
    main: Callable[..., None], values: dict[str, Any], origin: provenance.Origin | None = None
) -> None:
    """Call `main` with partial output paths, then put the outputs in place, all or none.

    Their records go with them; what these state is read from `values` where `origin` is not given.
    Next to a directory is put a list of its files with their digests.
    """
    origin = origin or origin_of(main, values)
    partial = {path: _partial(path) for path in outputs_of(main, values)}
    read = provenance.check(origin.inputs)
    for path in partial.values():
        _make_room(path)
    try:
        main(**(values | _partial_values(main, values, partial)))
        for output, path in list(partial.items()):
            if not path.exists():
                raise RuntimeError(f"{main.__module__} did not write its output {output}")
            modes.follow(path)
            if path.is_dir():
                listing = output.with_name(output.name + digests.LISTING)
                partial[listing] = _partial(listing)
                _partial(listing).write_bytes(os.fsencode(digests.listing(path, output.name)))
        provenance.write_partial(origin, read, partial)
        provenance.forget(partial)
        for output, path in partial.items():
            if output.is_dir():
                _remove(output)
            os.replace(path, output)
            digests.moved(path, output)
        provenance.put_in_place(partial)
    except Exception as error:
        if full_disk.met_by(error):
            full_disk.give_back(partial.values())
        raise
    finally:
        for path in partial.values():
            _remove(path)
        provenance.remove_partial(partial)


def _partial(path: Path) -> Path:
    return path.with_name(path.name + PARTIAL)


def origin_of(main: Callable[..., None], values: dict[str, Any]) -> provenance.Origin:
    """What the record of outputs states about a `main` that is called with `values`."""
    hints = get_type_hints(main, include_extras=True)
    inputs: list[Path] = []
    params = {}
    for name, value in values.items():
        hint = hints.get(name)
        if hint in (Path, Path | None):
            inputs += [Path(value)] if value is not None else []
        elif hint == list[Path]:
            inputs += map(Path, value)
        elif hint not in OUTPUTS:
            params[name] = value
    return provenance.Origin(tuple(inputs), _code_of(main), params)


def _of_job(main: Callable[..., None], snakemake: Any) -> provenance.Origin:
    """What the record states about a job, whose code must be what the workflow was planned with."""
    params = dict(snakemake.params.items())
    code = _code_of(main)
    if "code" in params and params.pop("code") != code:
        raise InputError(
            f"{_script_of(main)}: was edited after this job was planned, or a module that it "
            "imports was; start snakemake again, which makes anew what the edit concerns, or undo "
            "it (docs/cluster.md describes how to edit during a run)"
        )
    inputs = tuple(Path(path) for path in snakemake.input)
    config = getattr(snakemake, "config", None) or params.get("config")
    params.pop("config", None)  # recorded as such
    return provenance.Origin(inputs, code, params, snakemake.threads, config)


def final(output: Path) -> Path:
    """Where an output is when its job has ended; while it is written its name has PARTIAL."""
    return output.with_name(output.name.removesuffix(PARTIAL))


def _script_of(main: Callable[..., None]) -> Path:
    """The file of `main`; Snakemake runs a copy of a script and gives its own path as __file__."""
    return Path(sys.modules[main.__module__].__file__ or "")


def _code_of(main: Callable[..., None]) -> str | None:
    """The digest of what the script of `main` means; None outside this package."""
    script = _script_of(main)
    return meaning.digest(script) if meaning.PACKAGE in script.parts else None


def _make_room(path: Path) -> None:
    """Create the folder of a partial output and remove what a killed job left of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(path)
        path.touch()
        path.unlink()
    except OSError as error:
        raise InputError(
            f"{path.parent}: cannot be written ({error.strerror}); make it a writable directory"
        ) from error


def output_names(main: Callable[..., None]) -> list[str]:
    """The parameters of `main` that are marked as outputs."""
    hints = get_type_hints(main, include_extras=True)
    return [name for name in inspect.signature(main).parameters if hints.get(name) in OUTPUTS]


def outputs_of(main: Callable[..., None], values: dict[str, Any]) -> list[Path]:
    """The paths among the values of `main` that it writes."""
    given = [values[name] for name in output_names(main) if name in values]
    return [Path(path) for each in given for path in (each if isinstance(each, list) else [each])]


def _partial_values(
    main: Callable[..., None], values: dict[str, Any], partial: Mapping[Path, Path]
) -> dict[str, Path | list[Path]]:
    """The values of the outputs of `main`, with the partial path of each."""
    return {
        name: [partial[Path(path)] for path in values[name]]
        if isinstance(values[name], list)
        else partial[Path(values[name])]
        for name in output_names(main)
        if name in values
    }


def progress(items: Iterable[T], total: int | None = None, desc: str = "") -> Iterator[T]:
    """Yield `items` with a progress bar on a terminal, with a line per tenth in a log."""
    if total is None and hasattr(items, "__len__"):
        total = len(items)
    if sys.stderr.isatty():
        from tqdm import tqdm

        yield from tqdm(items, total=total, desc=desc)
        return
    started = time.monotonic()
    next_line = 0.1
    for done, item in enumerate(items, start=1):
        yield item
        if total and (done / total >= next_line or done == total):
            seconds = time.monotonic() - started
            log.info("%s: %d of %d, %.0f s", desc, done, total, seconds)
            next_line = (int(10 * done / total) + 1) / 10


def values_of(main: Callable[..., None], snakemake: Any) -> dict[str, Any]:
    """The values of a job for the parameters of `main`, paths as such."""
    hints, values = get_type_hints(main), {}
    for name, parameter in inspect.signature(main).parameters.items():
        if name == "threads":
            values[name] = snakemake.threads
            continue
        for source in (snakemake.input, snakemake.output, snakemake.params):
            if name in source.keys():  # noqa: SIM118 - a Namedlist iterates over its values
                values[name] = _convert(source.get(name), hints[name])
                break
        else:
            if parameter.default is inspect.Parameter.empty:
                raise TypeError(f"the rule declares no {name!r}, which {main.__module__} needs")
    return values


def _convert(value: Any, hint: Any) -> Any:
    if hint is Path:
        return Path(value)
    if hint == Path | None:  # an input function gives a list, empty where there is no such file
        paths = [value] if isinstance(value, str) else list(value)
        return Path(paths[0]) if paths else None
    if hint == list[Path]:
        return [Path(value)] if isinstance(value, str) else [Path(item) for item in value]
    return value


def _from_shell(main: Callable[..., None]) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description=sys.modules[main.__module__].__doc__)
    hints = get_type_hints(main)
    for name, parameter in inspect.signature(main).parameters.items():
        required = parameter.default is inspect.Parameter.empty
        options: dict[str, Any] = {"required": required, "default": argparse.SUPPRESS}
        if hints[name] == list[Path]:
            options |= {"nargs": "+", "type": Path}
        elif hints[name] is bool:
            options |= {"action": argparse.BooleanOptionalAction}
        elif hints[name] in (Path, Path | None):
            options |= {"type": Path}
        elif hints[name] in (str, int, float):
            options |= {"type": hints[name]}
        else:
            options |= {"type": json.loads, "metavar": "JSON"}
        parser.add_argument("--" + name.replace("_", "-"), **options)
    return vars(parser.parse_args())


def _start_logging(path: Path | None) -> None:
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(path, mode="w", encoding="utf-8"))
    logging.basicConfig(level=logging.WARNING, handlers=handlers, format="%(message)s", force=True)
    for ours in ("__main__", "workflow_scripts"):
        logging.getLogger(ours).setLevel(logging.INFO)
    logging.captureWarnings(True)


def _shell_threads() -> int:
    """OMP_NUM_THREADS where it is set to a number, or else all cores."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return int(wanted) if wanted.isdigit() else os.cpu_count() or 1


def _limit_threads(threads: int) -> None:
    """Keep numerical libraries to the threads that the rule was given."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        torch.set_num_threads(threads)
        if torch.get_num_interop_threads() != threads:  # it may be set once in a process
            torch.set_num_interop_threads(threads)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
