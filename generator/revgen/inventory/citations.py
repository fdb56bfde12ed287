"""Citations: where a fact is written, or why it is so although no page says it.

Rule: there are three forms, and each says honestly which it is. A page is named by its path without the revision, since the answer
that cites it belongs to one; a pointer must exist in the schema that it points into.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import re
from typing import Annotated, Any, Literal

import pydantic

from ..reading.located import Place, Scalar, Sequence
from ..reading.models import not_allowed
from ..schemas.pages import Pages
from ..schemas.pointers import LeadsNowhere, follow

_PAGE = re.compile(r"page: (?P<text>[^\s#]+#[^\s#]+)")
_SCHEMA = re.compile(r"schema: (?P<text>#(/\S+)?)")
_POLICY = re.compile(r"policy: (?P<origin>seed|project): (?P<text>\S.*)")
_REVISION = re.compile(r"(^|/)\d{4}-\d{2}-\d{2}(/|$)")

Complaint = collections.abc.Callable[[Place, str], None]

_FORMS = "'page: <path>#<heading>', 'schema: #/<pointer>', 'policy: seed: <why>', 'policy: project: <why>'"


@dataclasses.dataclass(frozen=True)
class Citation:
    """One source. `text` is the page with its heading, the pointer, or the sentence; `origin` says whose policy it is."""

    form: Literal["page", "schema", "policy"]
    text: str
    origin: Literal["seed", "project"] | None
    place: Place

    def __str__(self) -> str:
        origin = f"{self.origin}: " if self.origin else ""
        return f"{self.form}: {origin}{self.text}"


def _citation(node: Any) -> Citation:
    text = node if isinstance(node, Scalar) else ""
    if match := _PAGE.fullmatch(text):
        if _REVISION.search(match["text"].partition("#")[0]):
            raise not_allowed("a page by its path without the revision")
        return Citation("page", match["text"], None, node.place)
    if match := _SCHEMA.fullmatch(text):
        return Citation("schema", match["text"], None, node.place)
    if match := _POLICY.fullmatch(text):
        return Citation("policy", match["text"], "seed" if match["origin"] == "seed" else "project", node.place)
    raise not_allowed(_FORMS)


def _citations(node: Any) -> Any:
    if node == []:
        raise not_allowed(f"one citation or more, each {_FORMS}")
    return node if isinstance(node, Sequence) else (node,)


_FORM: dict[str, Any] = {
    "type": "string",
    # Groups have names in Python's own way.
    "pattern": "^(?:" + re.sub(r"\?P<\w+>", "", "|".join(form.pattern for form in (_PAGE, _SCHEMA, _POLICY))) + ")$",
}

Citations = Annotated[
    tuple[Annotated[Citation, pydantic.PlainValidator(_citation)], ...],
    pydantic.BeforeValidator(_citations),
    pydantic.WithJsonSchema({"anyOf": [_FORM, {"type": "array", "items": _FORM, "minItems": 1}]}),
]
"""One citation, or a list of them."""


def follow_citations(
    citations: collections.abc.Iterable[Citation],
    schema: object | None,
    version: str,
    complain: Complaint,
    pages: Pages | None = None,
) -> None:
    """Complain about pointers to nothing, and about pages and headings that there are not.

    Args:
        citations: what an answer cites.
        schema: the loaded schema that pointers point into; None when it could not be loaded, and pointers are not followed.
        version: the revision of that schema, for complaints.
        complain: receives each with its place.
        pages: the pages of that revision; None when nobody has written them down, and pages are not looked up.
    """
    for citation in citations:
        if citation.form == "schema" and schema is not None:
            _follow(citation, schema, version, complain)
        elif citation.form == "page" and pages is not None:
            _look_up(citation, pages, version, complain)


def _look_up(citation: Citation, pages: Pages, version: str, complain: Complaint) -> None:
    """Complain unless there is such a page with such a heading, saying which there are."""
    page, _, anchor = citation.text.partition("#")
    if page not in pages.headings:
        complain(citation.place, f"{version} has no page '{page}'; pages: {', '.join(pages.headings)}")
    elif not pages.has(page, anchor):
        headings = ", ".join(pages.headings[page]) or "none"
        complain(citation.place, f"the page '{page}' of {version} has no heading '{anchor}'; headings: {headings}")


def _follow(citation: Citation, schema: object, version: str, complain: Complaint) -> None:
    """Complain unless the pointer leads to something, saying how far it does."""
    try:
        follow(schema, citation.text.removeprefix("#"))
    except LeadsNowhere as error:
        message = f"'{citation.text}' is not in the schema of {version}; '#{error.reached}' has no '{error.missing}'"
        complain(citation.place, message)
