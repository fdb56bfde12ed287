"""Which adapter answers a message, as `specs/selection.yaml` holds it: one ordered list, of which the first that applies decides.

Rule: what a rule does is the skeleton of the package; here stand the constants that it needs, its words and its source.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import pathlib

from ..reading import located
from ..reading.literals import found, read_text
from ..reading.located import Mapping, Place, Problems
from ..schemas.pages import Pages
from .citations import Citation, read_citations

PATH = "specs/selection.yaml"

_KEYS = ("says", "with", "refusal", "cite")


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule: what it says, the constants that it compares with, who words the refusal, and where it is written."""

    name: str
    says: str
    constants: dict[str, str]
    refusal: str
    citations: tuple[Citation, ...]
    place: Place
    constant_places: dict[str, Place] = dataclasses.field(default_factory=dict, compare=False)

    @property
    def words(self) -> list[str]:
        """The paragraphs of a docstring: what it says, who words the refusal, and the sources."""
        return [self.says, self.refusal, "", *map(str, self.citations)]


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
    top = located.load(root, PATH, problems)
    if top is None:
        return ()
    for key in top:
        if key != "rules":
            problems.add(top.place_of(key), f"'{key}' is not a key of the selection; keys: rules")
    rules = top.get("rules")
    if isinstance(rules, Mapping) and rules.entries:
        read = (_read_rule(name, rules, problems) for name in rules)
        kept = tuple(rule for rule in read if rule is not None)
        _remark_on_pages(kept, tuple(pages), problems)
        return kept
    problems.add(rules.place if rules else top.place, "the selection has no rules; allowed: 'rules', a mapping")
    return ()


def _remark_on_pages(rules: tuple[Rule, ...], pages: tuple[Pages, ...], problems: Problems) -> None:
    for citation in (citation for rule in rules for citation in rule.citations if citation.form == "page"):
        page, _, anchor = citation.text.partition("#")
        if pages and not any(known.has(page, anchor) for known in pages):
            problems.remark(citation.place, f"no revision has a page '{page}' with a heading '{anchor}'")


def _read_rule(name: str, rules: Mapping, problems: Problems) -> Rule | None:
    node, place = rules[name], rules.place_of(name)
    if not isinstance(node, Mapping):
        problems.add(node.place, f"rule '{name}' is {found(node)}; allowed: a mapping")
        return None
    for key in node:
        if key not in _KEYS:
            problems.add(node.place_of(key), f"'{key}' is not a key of rule '{name}'; keys: {', '.join(_KEYS)}")
    for key in _KEYS:
        if key not in node:
            problems.add(place, f"rule '{name}' has no '{key}'; keys: {', '.join(_KEYS)}")
    texts = {
        key: read_text(node[key], f"'{key}' of rule '{name}'", problems) for key in ("says", "refusal") if key in node
    }
    # A rule belongs to no single revision, so there is no schema that a pointer could point into.
    cited = read_citations(node["cite"], None, "", problems) if "cite" in node else ()
    for citation in cited:
        if citation.form == "schema":
            problems.add(citation.place, f"rule '{name}' cites a schema; allowed: 'page: <path>#<heading>' or a policy")
    constants = node.get("with")
    values: dict[str, str] = {}
    places: dict[str, Place] = {}
    if isinstance(constants, Mapping):
        values = {
            key: read_text(value, f"'{key}' of rule '{name}'", problems) for key, value in constants.entries.items()
        }
        places = {key: value.place for key, value in constants.entries.items()}
    elif constants is not None:
        problems.add(constants.place, f"'with' of rule '{name}' is {found(constants)}; allowed: a mapping")
    return Rule(name, texts.get("says", ""), values, texts.get("refusal", ""), cited, place, places)
