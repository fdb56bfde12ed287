"""Help that ends with examples.

Rule: revisions in examples are taken from those that are served where none are named, when the help is shown; a draft is none of them.
"""

from __future__ import annotations

from typing import ClassVar

import click


class CommandWithExamples(click.Command):
    """A command whose help ends with examples; `{newest}` and `{oldest}` in them stand for revisions."""

    examples: ClassVar[tuple[str, ...]] = ()

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See `click.Command.format_epilog`."""
        from mcp_revisions import AdapterSet

        served = AdapterSet.default().versions
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write_text(example.format(newest=served[0], oldest=served[-1]))


def known_revision(value: str) -> str:
    """A revision as given on a command line.

    Raises:
        click.BadParameter: there is no such revision.
    """
    from mcp_revisions import VERSIONS

    if value not in VERSIONS:
        raise click.BadParameter(f"{value or 'none given'}; known: {', '.join(VERSIONS)}")
    return value
