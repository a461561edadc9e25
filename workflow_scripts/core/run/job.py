"""How a step runs: the same `main` as a rule's script and from a shell.

`main`'s parameters are the rule's own names. Those marked as one of OUTPUTS are outputs, which
`main` writes to partial paths: they take their place only after `main` has returned.
"""

import argparse
import errno
import gc
import inspect
import json
import logging
import os
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

from filelock import FileLock, Timeout

from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.integrity import code_digest, digests, provenance

Out = Annotated[Path, "output"]
OUTPUTS = (Out, list[Out], Out | None)  # None where a rule has no such output
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # of a file system that has none
T = TypeVar("T")
log = logging.getLogger(__name__)
label = ""  # what figures of this process call their model, where the study has words for it


def run(main: Callable[..., None], namespace: dict[str, Any]) -> None:
    """Run `main` with the values of the Snakemake job, or of the command line without one.

    Ends the process with status 1 on an `InputError` (one line) or any other error (traceback).
    """
    snakemake = namespace.get("snakemake")
    path = Path(snakemake.log[0]) if snakemake and snakemake.log else None
    _start_logging(path)
    values = values_of(main, snakemake) if snakemake else _from_shell(main)
    cores = os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1
    _limit_threads(int(values.get("threads", snakemake.threads if snakemake else cores)))
    random.seed(values.get("seed", 0))
    global label
    label = snakemake.params.get("label", "") if snakemake else ""
    gc.freeze()  # what was imported stays: no collection need look at it
    gc.enable()  # off during imports (workflow_scripts/__init__.py)
    try:
        with locked(path):
            call(main, values, _job_origin(main, snakemake) if snakemake else None)
    except InputError as error:
        log.error("Error: %s", error)
        sys.exit(1)
    except Exception as error:
        name, kind = _script_of(main).name, type(error).__name__
        log.exception("Error: %s failed: %s: %s", name, kind, one_line(error))
        sys.exit(1)


@contextmanager
def locked(log: Path | None) -> Iterator[None]:
    """Within, no other process runs the job with this log; InputError where one does.

    A job outlives a Snakemake that is killed, and the next run starts the same job again. The lock
    is on a file next to the log, which Snakemake would remove; it ends with the process.
    """
    if log is None:
        yield
        return
    path = log.with_name(log.name + ".lock")
    lock = FileLock(path, timeout=0, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"{path}: another process, perhaps left by a killed run, still makes the products of "
            "this job; wait for its end or end it, then run again"
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def run_figure(namespace: dict[str, Any]) -> None:
    """Run the function of a script that the param `figure`, or in a shell the first word, names."""
    snakemake = namespace.get("snakemake")
    if snakemake:
        name = snakemake.params.figure
    else:
        parser = argparse.ArgumentParser(description=namespace["__doc__"])
        hints = {name: getattr(item, "__annotations__", {}) for name, item in namespace.items()}
        drawn = [name for name, of in hints.items() if any(hint in OUTPUTS for hint in of.values())]
        parser.add_argument("figure", choices=drawn)
        name = parser.parse_args(sys.argv[1:2]).figure
        sys.argv[:2] = [f"{sys.argv[0]} {name}"]
    run(namespace[name], namespace)


def call(
    main: Callable[..., None], values: dict[str, Any], origin: provenance.Origin | None = None
) -> None:
    """Call `main` with partial output paths, then put the outputs in place, all or none.

    Their records, of `values` where no `origin` is given, and lists of directories go next to them.
    """
    origin = origin or origin_of(main, values)
    hints = get_type_hints(main, include_extras=True)
    given = {name: value for name, value in values.items() if hints.get(name) in OUTPUTS}
    outputs = [path for value in given.values() for path in _paths(value)]
    partial = {
        name: [_partial(path) for path in _paths(value)]
        if isinstance(value, list)
        else _partial(Path(value))
        for name, value in given.items()
    }
    read = provenance.check(origin.inputs)
    for output in outputs:
        output.parent.mkdir(parents=True, exist_ok=True)
        _remove(_partial(output))
    try:
        main(**(values | partial))
        for output in outputs:
            provenance.forget(output)  # a killed job leaves no product with another's record
            if output.is_dir():
                _remove(output)
            os.replace(_partial(output), output)
    finally:
        for output in outputs:
            _remove(_partial(output))
    lists = [digests.write_list(output) for output in outputs if output.is_dir()]
    provenance.write(origin, read, [*outputs, *lists])
    for output in outputs:
        _remove(work(output))


def origin_of(main: Callable[..., None], values: dict[str, Any]) -> provenance.Origin:
    """What the record of outputs states about a `main` that is called with `values`."""
    hints = get_type_hints(main, include_extras=True)
    files = [name for name in values if hints.get(name) in (Path, Path | None, list[Path])]
    inputs = [path for name in files for path in _paths(values[name])]
    params = {
        name: value
        for name, value in values.items()
        if name not in files and hints.get(name) not in OUTPUTS
    }
    return provenance.Origin(inputs, _code_of(main), params)


def _job_origin(main: Callable[..., None], snakemake: Any) -> provenance.Origin:
    """What the record states about a job, whose code must be what the workflow was planned with."""
    params, code = dict(snakemake.params.items()), _code_of(main)
    if "code" in params and params.pop("code") != code:
        raise InputError(
            f"{_script_of(main)}: was edited after this job was planned, or a module that it "
            "imports was; start snakemake again, or undo the edit (docs/running.md)"
        )
    own = params.pop("config", None)  # recorded as such
    config = getattr(snakemake, "config", None) or own
    return provenance.Origin(_paths(snakemake.input), code, params, snakemake.threads, config)


def final(output: Path) -> Path:
    """Where an output is when its job has ended; while it is written its name has PARTIAL."""
    return output.with_name(output.name.removesuffix(digests.PARTIAL))


def work(output: Path) -> Path:
    """Where a killed job leaves what the next one goes on with; removed when the job has ended."""
    return output.with_name(f"{final(output).name}.work")


def _script_of(main: Callable[..., None]) -> Path:
    """The file of `main`; Snakemake runs a copy of a script and gives its own path as __file__."""
    return Path(sys.modules[main.__module__].__file__ or "")


def _code_of(main: Callable[..., None]) -> str | None:
    """The digest of what the script of `main` means; None outside this package."""
    script = _script_of(main)
    return code_digest.digest(script) if code_digest.PACKAGE in script.parts else None


def _partial(path: Path) -> Path:
    return path.with_name(path.name + digests.PARTIAL)


def progress(items: Iterable[T], total: int | None = None, desc: str = "") -> Iterator[T]:
    """Yield `items`, with a line for each tenth in the log."""
    if total is None and hasattr(items, "__len__"):
        total = len(items)
    started, next_line = time.monotonic(), 0.1
    for done, item in enumerate(items, start=1):
        yield item
        if total and (done / total >= next_line or done == total):
            log.info("%s: %d of %d, %.0f s", desc, done, total, time.monotonic() - started)
            next_line = (int(10 * done / total) + 1) / 10


def values_of(main: Callable[..., None], snakemake: Any) -> dict[str, Any]:
    """The values of a job for the parameters of `main`, paths as such."""
    given = {"threads": snakemake.threads}
    for source in (snakemake.input, snakemake.output, snakemake.params):
        given = dict(source.items()) | given
    hints = get_type_hints(main)
    return {
        name: _convert(given[name], hints[name])
        for name in inspect.signature(main).parameters
        if name in given
    }


def _convert(value: Any, hint: Any) -> Any:
    """A value of a rule for a parameter of this type; an input function may give an empty list."""
    if hint is Path:
        return Path(value)
    if hint == Path | None:
        return next(iter(_paths(value)), None)
    return _paths(value) if hint == list[Path] else value


def _paths(value: str | Path | Iterable[str | Path] | None) -> list[Path]:
    return [Path(path) for path in ([value] if isinstance(value, str | Path) else value or ())]


def _from_shell(main: Callable[..., None]) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description=sys.modules[main.__module__].__doc__)
    hints = get_type_hints(main)
    for name, parameter in inspect.signature(main).parameters.items():
        hint, required = hints[name], parameter.default is inspect.Parameter.empty
        options: dict[str, Any] = {"required": required, "default": argparse.SUPPRESS}
        if hint is bool:
            options["action"] = argparse.BooleanOptionalAction
        elif hint == list[Path]:
            options |= {"nargs": "+", "type": Path}
        elif hint in (Path, Path | None, str, int, float):
            options["type"] = Path if hint == Path | None else hint
        else:
            options |= {"type": json.loads, "metavar": "JSON"}
        parser.add_argument("--" + name.replace("_", "-"), **options)
    return vars(parser.parse_args())


def _start_logging(path: Path | None) -> None:
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(path, mode="w", encoding="utf-8"))
        # Snakemake prints the log of a job that failed.
        handlers[0].addFilter(lambda record: record.levelno < logging.ERROR)
    logging.basicConfig(level=logging.WARNING, handlers=handlers, format="%(message)s", force=True)
    for ours in ("__main__", "workflow_scripts"):
        logging.getLogger(ours).setLevel(logging.INFO)
    logging.captureWarnings(True)


def _limit_threads(threads: int) -> None:
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
