"""What `explain`, `diff` and the HTML matrix show, as far as the toy has it."""

from __future__ import annotations

import html.parser
import json

from .conftest import Toy


def test_explain_shows_question_answers_sources_and_code(toy: Toy) -> None:
    assert toy.run("explain", "sealed").stdout.splitlines() == [
        "sealed (letters, choice): (self, text: str) -> str",
        "How is a letter closed?",
        "templates/concerns/letters/sealed.py.jinja",
        "",
        "2001-01-01",
        "open",
        "wax: none",
        "It is not.",
        "    return text",
        "  2001-01-01  page: letters#seals  https://example.org/2001-01-01/letters#seals",
        "",
        "2002-02-02",
        "closed",
        "wax: red",
        "With wax at its end.",
        '    return f"{text} (red wax)"',
        "  2002-02-02  page: letters#seals  https://example.org/2002-02-02/letters#seals",
    ]


def test_explain_shows_constants_as_adapters_have_them(toy: Toy) -> None:
    data = json.loads(toy.run("explain", "marks", "--json").stdout)
    assert (data["kind"], data["type"], data["template"]) == ("table", "Mapping[str, str]", None)
    assert [variant["code"] for variant in data["variants"]] == [
        '{\n    "urgent": "!",\n    "secret": "?",\n}',
        '{\n    "urgent": "!!",\n}',
    ]
    assert data["variants"][1]["revisions"]["2002-02-02"][0] == {
        "source": "schema: #/$defs/Letter",
        "address": "https://example.org/2002-02-02/schema#letter",
    }


def test_diff_shows_schema_and_answers(toy: Toy) -> None:
    assert toy.run("diff", "2001-01-01", "2002-02-02").stdout.splitlines() == [
        "Members",
        "  Letter: new date: string",
        "",
        "Answers: Letters",
        "  can_ask: no → yes",
        "      2001-01-01  policy: seed: Nobody answered letters then.",
        "      2002-02-02  page: letters#answers",
        "  stamp: 3 → none",
        "      2001-01-01  page: letters#stamps",
        "      2002-02-02  policy: project: No page names a price.",
        "  marks: urgent: ! → !!; gone secret: ?",
        "      2001-01-01  schema: #/$defs/Letter/properties/mark",
        "      2002-02-02  schema: #/$defs/Letter",
        "      2002-02-02  page: letters#marks",
        "  sealed: open → closed; wax: none → red. With wax at its end.",
        "      2001-01-01  page: letters#seals",
        "      2002-02-02  page: letters#seals",
    ]


def test_diff_as_json_has_everything(toy: Toy) -> None:
    data = json.loads(toy.run("diff", "2002-02-02", "2001-01-01", "--json").stdout)
    assert data["schema"]["types"][0]["members"] == [{"path": "date", "old": "string", "new": ""}]
    assert [answer["concern"] for answer in data["answers"]] == ["can_ask", "stamp", "marks", "sealed"]


def test_diff_of_code_shows_what_runs_otherwise_and_nothing_else(toy: Toy) -> None:
    result = toy.run("diff", "2001-01-01", "2002-02-02", "--code")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "can_ask",
        "- can_ask: ClassVar[bool] = False",
        "+ can_ask: ClassVar[bool] = True",
        "",
        "stamp",
        "- stamp: ClassVar[int | None] = 3",
        "+ stamp: ClassVar[int | None] = None",
        "",
        "marks",
        '- marks: ClassVar[Mapping[str, str]] = MappingProxyType({"urgent": "!", "secret": "?"})',
        '+ marks: ClassVar[Mapping[str, str]] = MappingProxyType({"urgent": "!!"})',
        "",
        "sealed",
        "-     return text",
        '+     return f"{text} (red wax)"',
    ]
    data = json.loads(toy.run("diff", "2001-01-01", "2002-02-02", "--code", "--json").stdout)
    assert [part["name"] for part in data] == ["can_ask", "stamp", "marks", "sealed"]
    page = toy.run("diff", "2001-01-01", "2002-02-02", "--code", "--format", "markdown").stdout.splitlines()
    assert (page[0], page[-1]) == ("```diff", "```")
    assert toy.run("diff", "2001-01-01", "2001-01-01", "--code").stdout == ""


class Page(html.parser.HTMLParser):
    """Collects the tags, the links and the ids of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.cells: list[dict[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        self.tags.append(tag)
        self.links += [known[name] or "" for name in ("href", "src") if name in known]
        self.ids += [known["id"] or ""] if "id" in known else []
        self.cells += [known] if tag == "td" else []


def test_the_page_needs_nothing_else_and_every_link_leads_somewhere(toy: Toy) -> None:
    output = toy.root / "matrix.html"
    result = toy.run("matrix", "--format", "html", "--output", str(output))
    assert (result.exit_code, result.output) == (0, "")
    text = output.read_text("utf-8")
    page = Page(text)
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert "url(" not in text and "@import" not in text
    assert len(page.ids) == len(set(page.ids))
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside <= set(page.ids)
    assert all(link.startswith("https://example.org/") for link in page.links if not link.startswith("#"))
    assert [cell.get("class") for cell in page.cells] == [None, "changed"] * 4 + [None, None]
    assert {cell["data-revision"] for cell in page.cells} == {"2001-01-01", "2002-02-02"}
    assert toy.run("matrix", "--format", "html").stdout == text


def test_words_of_the_inventory_are_words_on_every_page(toy: Toy) -> None:
    words = """Is <b>it</b> "closed" & 'sealed'?"""
    toy.replace("specs/variance/letters.yaml", "How is a letter closed?", words)
    page = toy.run("matrix", "--format", "html").stdout
    assert "<p>Is &lt;b&gt;it&lt;/b&gt; &quot;closed&quot; &amp; &#x27;sealed&#x27;?</p>" in page
    assert "b" not in Page(page).tags
    assert words in toy.run("matrix", "--format", "markdown").stdout.splitlines()


def test_the_page_of_a_revision_alone_names_none_beside_it(toy: Toy) -> None:
    assert toy.run("remove", "2001-01-01").exit_code == 0
    result = toy.run("generate")
    assert result.exit_code == 0, result.output
    page = (toy.root / "generated/docs/2002-02-02.md").read_text("utf-8")
    assert "whose `Adapter` holds what stands here.\n" in page
