"""What every command takes, and how every command ends.

Rule: exit 0 is fine, 1 is that something was found, and nothing in specs/ has changed, 2 is wrong usage, 3 is that specs/ was written and
has faults now. Data goes to standard output, all else to standard error; with `--json` the data is one JSON document.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import json
import os
import pathlib
import sys
from typing import Any, NoReturn

import click

from ..adapters.trial import skeleton_faults
from ..reading.located import Problem, SpecificationError
from ..specification.inputs import wrong_tools
from ..specification.loading import load_specification
from ..vectors.files import marks

_MARK = pathlib.PurePath("specs", "revisions.yaml")
WORK_LEFT = 3


@dataclasses.dataclass(frozen=True)
class Settings:
    """The root to work on, and whether data is shown as JSON."""

    root: pathlib.Path
    as_json: bool

    def show(self, data: Any, text: str) -> None:
        """Show the data on standard output, as JSON or as text for people."""
        if self.as_json:
            click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        elif text:
            paint(text.rstrip("\n"))


def takes_settings(
    *, may_be_new: bool = False, only_shows: bool = False
) -> collections.abc.Callable[[collections.abc.Callable[..., None]], collections.abc.Callable[..., None]]:
    """Add `--root` and `--json` to a command, which gets `Settings` first. Problems of the inputs end it with 1.

    Args:
        may_be_new: a root that was named need not have any revisions yet.
        only_shows: the command writes nothing, so that it works on the inputs that came with the package where there are no others.
    """
    default = "the nearest one from here upwards" + (", else what came with revgen" if only_shows else "")

    def decorate(function: collections.abc.Callable[..., None]) -> collections.abc.Callable[..., None]:
        @click.option(
            "--root",
            type=click.Path(exists=True, file_okay=False, path_type=pathlib.Path),
            help=f"The folder that holds specs/ and templates/.  [default: {default}]",
        )
        @click.option("--json", "as_json", is_flag=True, help="Give data as JSON.")
        @functools.wraps(function)
        def command(root: pathlib.Path | None, as_json: bool, **options: Any) -> None:
            settings = Settings((root or _nearest_root(or_packaged=only_shows)).resolve(), as_json)
            if not may_be_new and not (settings.root / _MARK).is_file():
                raise click.UsageError(f"there is no {_MARK.as_posix()} in {root}")
            try:
                function(settings, **options)
            except BrokenPipeError:
                raise  # Whoever reads has seen enough, which click knows how to end.
            except OSError as error:
                # Whoever writes has put back what was there.
                place = f"{error.filename}: " if error.filename else ""
                stop(settings, [f"{place}{error.strerror or error}"])
            except SpecificationError as error:
                # With JSON the problems are the data; without, they are what went wrong with making it.
                faults = [problem for problem in error.problems if problem.degree == "fault"]
                if as_json:
                    settings.show({"problems": [problem_data(problem) for problem in faults]}, "")
                else:
                    show_problems(faults, to_error=True)
                sys.exit(1)

        return command

    return decorate


def stop(settings: Settings, complaints: collections.abc.Sequence[str]) -> NoReturn:
    """Say what went wrong, and end with 1."""
    if settings.as_json:
        settings.show({"problems": list(complaints)}, "")
    else:
        click.echo("\n".join(complaints), err=True)
    sys.exit(1)


def problem_data(problem: Problem) -> dict[str, Any]:
    """A problem as JSON has it."""
    return {**dataclasses.asdict(problem.place), "message": problem.message, "degree": problem.degree}


def show_problems(problems: collections.abc.Iterable[Problem], *, to_error: bool = False) -> None:
    """One line for each problem, as compilers do."""
    for problem in problems:
        paint(f"{click.style(str(problem.place), bold=True)}: {problem.message}", to_error=to_error)


def require_revision(version: str, versions: collections.abc.Sequence[str]) -> None:
    """Refuse a name that is no revision, as wrong usage."""
    if version not in versions:
        raise click.UsageError(f"'{version}' is not a revision; revisions: {', '.join(versions)}")


def require_tools(settings: Settings) -> None:
    """End with 1 where a tool has another version than the output depends on; every file would differ, and nobody would see why."""
    if wrong := wrong_tools():
        stop(settings, wrong)


def found_by_lint(root: pathlib.Path) -> tuple[Problem, ...]:
    """What `revgen lint` has to say now."""
    waiting = tuple(Problem(place, f"to be reviewed: {why}", "mark") for place, why in marks(root))
    try:
        specification = load_specification(root)
        return (*specification.remarks, *skeleton_faults(specification), *waiting)
    except SpecificationError as error:
        return (*error.problems, *waiting)


def show_what_is_left(settings: Settings, problems: collections.abc.Sequence[Problem]) -> None:
    """After specs/ was written: show the faults that it has now, and end with 3 where there are any.

    They are no refusal. What was written is where a person goes on from, so they say what is to be answered next.
    """
    faults = [problem for problem in problems if problem.degree == "fault"]
    if not settings.as_json:
        if faults:
            click.echo(f"written; {counted(len(faults), 'thing')} to answer before generate:", err=True)
            show_problems(faults, to_error=True)
        hint_at_remarks([problem for problem in problems if problem.degree != "fault"])
    if faults:
        sys.exit(WORK_LEFT)


def hint_at_remarks(remarks: collections.abc.Sequence[Problem]) -> None:
    """Say on standard error how much there is to look at, and how much to tidy up; nothing where there is neither."""
    marks = [problem for problem in remarks if problem.degree == "mark"]
    if marks:
        click.echo(f"{len(marks)} to be reviewed; run: revgen lint", err=True)
    if len(remarks) > len(marks):
        click.echo(f"{counted(len(remarks) - len(marks), 'remark')}; run: revgen lint --remarks", err=True)


def counted(number: int, what: str) -> str:
    """A number of things in words."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def paint(text: str, *, to_error: bool = False, newline: bool = True) -> None:
    """Print styled text; plain where the output is no terminal or NO_COLOR is set."""
    click.echo(text, err=to_error, nl=newline, color=False if os.environ.get("NO_COLOR") else None)


def _nearest_root(*, or_packaged: bool) -> pathlib.Path:
    here = pathlib.Path.cwd()
    for folder in (here, *here.parents):
        if (folder / _MARK).is_file():
            return folder
    if or_packaged:
        # In a wheel the inputs are part of the package; in a checkout they are beside the generator.
        package = pathlib.Path(__file__).parents[1]
        for folder in (package / "inputs", *package.parents):
            if (folder / _MARK).is_file():
                return folder
    raise click.UsageError(f"no folder from here upwards has {_MARK.as_posix()}; name one with --root")
