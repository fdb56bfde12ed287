"""`revgen lint`: is everything in specs/ and templates/ right?"""

from __future__ import annotations

import sys

import click

from .options import Settings, found_by_lint, problem_data, show_problems, takes_settings


@click.command(name="lint")
@takes_settings()
def command(settings: Settings) -> None:
    """Check specs/ and templates/, and list everything that is wrong, unused or still to be reviewed.

    \b
    Examples:
      revgen lint
      revgen lint --json
    """
    problems = found_by_lint(settings.root)
    if settings.as_json:
        settings.show({"problems": [problem_data(problem) for problem in problems]}, "")
    else:
        show_problems(problems)
    if problems:
        click.echo(f"{len(problems)} found", err=True)
        sys.exit(1)
