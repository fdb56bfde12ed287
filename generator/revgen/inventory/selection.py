"""Which adapter answers a message, as `specs/selection.yaml` holds it: one ordered list, of which the first that applies decides.

Rule: what a rule does is the skeleton of the package; here stand the constants that it needs, its words and its source.
"""

from __future__ import annotations

import collections.abc
import pathlib

import pydantic

from ..reading.located import Problems, load
from ..reading.models import Each, LocatedText, Part, Text, read
from ..schemas.pages import Pages
from .citations import Citations

PATH = "specs/selection.yaml"


class Rule(Part):
    """One rule: what it says, the constants that it compares with, who words the refusal, and where it is written."""

    model_config = pydantic.ConfigDict(title="rule")

    says: Text
    """Which message is answered by which revision, in a sentence."""
    constants: dict[LocatedText, LocatedText] = pydantic.Field(alias="with")
    """What it compares with: `header` (the concern that names it), `key`, `member`, `method`, `version`."""
    refusal: Text
    """Who words the refusal where that revision is not served."""
    citations: Citations = pydantic.Field(alias="cite")
    """Where it is written."""

    @property
    def name(self) -> str:
        """What its macro is called."""
        return self.key

    @property
    def words(self) -> list[str]:
        """The paragraphs of a docstring: what it says, who words the refusal, and the sources."""
        return [self.says, self.refusal, "", *map(str, self.citations)]


class SelectionFile(Part):
    """Which adapter answers a message: the first rule that applies decides."""

    model_config = pydantic.ConfigDict(title="file")

    rules: Each[LocatedText, Rule] = pydantic.Field(min_length=1)
    """The rules by name, in the order in which they are tried."""


def load_selection(
    root: pathlib.Path, problems: Problems, pages: collections.abc.Iterable[Pages] = ()
) -> tuple[Rule, ...]:
    """Read the rules, in the order of the file.

    Args:
        root: the folder that holds `specs/`.
        problems: receives everything that is wrong; what is returned is of use only when nothing was added.
        pages: the pages of all revisions whose pages are known. A rule is of no single one, so that it cites what none of them has
            is a remark: the one that had it may have been taken out.
    """
    file = read(SelectionFile, load(root, PATH, problems), problems)
    if file is None:
        return ()
    rules = tuple(rule for rule in file.rules.values() if rule is not None)
    for rule in rules:
        for citation in rule.citations:
            # A rule belongs to no single revision, so there is no schema that a pointer could point into.
            if citation.form == "schema":
                allowed = "'page: <path>#<heading>' or a policy"
                problems.add(citation.place, f"rule '{rule.name}' cites a schema; allowed: {allowed}")
    _remark_on_pages(rules, tuple(pages), problems)
    return rules


def _remark_on_pages(rules: tuple[Rule, ...], pages: tuple[Pages, ...], problems: Problems) -> None:
    for citation in (citation for rule in rules for citation in rule.citations if citation.form == "page"):
        page, _, anchor = citation.text.partition("#")
        if pages and not any(known.has(page, anchor) for known in pages):
            problems.remark(citation.place, f"no revision has a page '{page}' with a heading '{anchor}'")
