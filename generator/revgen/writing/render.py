"""Rendering: the specification in, every generated file's text out, by path.

Rule: it is pure. The order of the tasks, the processes that they run in, the hash seed and the current folder change no byte.
"""

from __future__ import annotations

import collections.abc
import concurrent.futures
import dataclasses
import functools
import multiprocessing
import multiprocessing.connection
import os
import threading

from ..adapters.adapter import write_adapter
from ..adapters.package import write_package, write_selection
from ..adapters.protocol import write_protocol
from ..documents.editor_schemas import write_editor_schemas
from ..documents.matrix import write_matrix
from ..documents.revision_page import write_revision_page
from ..models.canonical import write_canonical
from ..models.modules import write_models
from ..reading.located import Problem, SpecificationError
from ..rendering.output import Output
from ..specification.loading import Specification
from .manifest import PATH as MANIFEST
from .manifest import manifest_text

Progress = collections.abc.Callable[[str], None]
Task = collections.abc.Callable[[], list[Output]]


@dataclasses.dataclass(frozen=True)
class Writer:
    """Who writes: called with the specification, and `per_revision` with each revision as well.

    The `slow` ones are spread over processes; the others run where rendering was called.
    """

    write: collections.abc.Callable[..., list[Output]]
    per_revision: bool = False
    slow: bool = False


WRITERS = (
    Writer(write_package),
    Writer(write_selection),
    Writer(write_protocol),
    Writer(write_matrix),
    Writer(write_editor_schemas),
    Writer(write_revision_page, per_revision=True),
    Writer(write_adapter, per_revision=True, slow=True),
    Writer(write_canonical, slow=True),
    Writer(write_models, per_revision=True, slow=True),
)


@dataclasses.dataclass(frozen=True)
class _Rendered:
    """What one task gave: outputs, or what was wrong. It travels between processes, which exceptions do badly."""

    outputs: tuple[Output, ...] = ()
    problems: tuple[Problem, ...] = ()


def render(
    specification: Specification,
    writers: collections.abc.Iterable[Writer] = WRITERS,
    progress: Progress = lambda path: None,
) -> dict[str, str]:
    """Render everything.

    Args:
        specification: the inputs, checked.
        writers: who writes what.
        progress: is told the path of every file that is ready.

    Returns:
        The text of every file under `generated/`, MANIFEST included, by its path relative to the root.

    Raises:
        SpecificationError: a skeleton fails, or what the templates give is not Python; with the problems of all files.
    """
    outputs: list[Output] = []
    problems: list[Problem] = []
    for rendered in _run_all(specification, writers):
        problems += rendered.problems
        outputs += rendered.outputs
        for output in rendered.outputs:
            progress(output.path)
    if problems:
        raise SpecificationError(problems)
    files = {output.path: output.text for output in outputs}
    files[MANIFEST] = manifest_text(specification.inputs, outputs)
    return dict(sorted(files.items()))


def _run_all(
    specification: Specification, writers: collections.abc.Iterable[Writer]
) -> collections.abc.Iterator[_Rendered]:
    """Run every writer, the slow ones in other processes meanwhile; what they give comes in a fixed order."""
    quick: list[Task] = []
    slow: list[Task] = []
    for writer in writers:
        arguments = [(revision,) for revision in specification.revisions] if writer.per_revision else [()]
        tasks = [functools.partial(writer.write, specification, *argument) for argument in arguments]
        (slow if writer.slow else quick).extend(tasks)
    if not slow:
        yield from map(_run, quick)
        return
    with concurrent.futures.ProcessPoolExecutor(
        min(len(slow), os.cpu_count() or 1), initializer=_end_with_parent
    ) as pool:
        running = [pool.submit(_run, task) for task in slow]
        yield from map(_run, quick)
        for future in running:
            yield future.result()


def _end_with_parent() -> None:
    """Have a process end when the one that started it is gone, killed without a word; or it would wait for work for ever."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            multiprocessing.connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run(task: Task) -> _Rendered:
    try:
        return _Rendered(tuple(task()))
    except SpecificationError as error:
        return _Rendered(problems=error.problems)
