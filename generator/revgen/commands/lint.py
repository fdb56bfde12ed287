"""`revgen lint`: is everything in specs/ and templates/ right?"""

from __future__ import annotations

import sys

import click

from .options import Settings, counted, found_by_lint, problem_data, show_problems, takes_settings


@click.command(name="lint")
@click.option("--remarks", "with_remarks", is_flag=True, help="List what could be tidied up, too.")
@takes_settings()
def command(settings: Settings, with_remarks: bool) -> None:
    """Check specs/ and templates/, and list everything that is wrong or still to be reviewed.

    What is wrong ends every command; what is to be reviewed waits for a person. Remarks end nothing: something is used by nothing, or has
    no words. They are counted in one line.

    \b
    Examples:
      revgen lint
      revgen lint --remarks
      revgen lint --json
    """
    found = found_by_lint(settings.root)
    remarks = [problem for problem in found if problem.degree == "remark"]
    serious = [problem for problem in found if problem.degree != "remark"]
    if settings.as_json:
        settings.show({"problems": [problem_data(problem) for problem in found]}, "")
    else:
        show_problems(found if with_remarks else serious)
    if serious:
        click.echo(f"{len(serious)} found", err=True)
    if remarks and not with_remarks:
        click.echo(f"{counted(len(remarks), 'remark')}; run: revgen lint --remarks", err=True)
    if serious:
        sys.exit(1)
