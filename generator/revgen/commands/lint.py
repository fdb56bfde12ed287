"""`revgen lint`: is everything in specs/ and templates/ right?"""

from __future__ import annotations

import sys

import click

from ..located import SpecificationError
from ..specification import load_specification
from .options import Settings, problem_data, show_problems, takes_settings


@click.command(name="lint")
@takes_settings()
def command(settings: Settings) -> None:
    """Check specs/ and templates/, and list everything that is wrong.

    \b
    Examples:
      revgen lint
      revgen lint --json
    """
    try:
        load_specification(settings.root)
    except SpecificationError as error:
        if settings.as_json:
            settings.show({"problems": [problem_data(problem) for problem in error.problems]}, "")
        else:
            show_problems(error.problems)
            click.echo(f"{len(error.problems)} found", err=True)
        sys.exit(1)
    settings.show({"problems": []}, "")
