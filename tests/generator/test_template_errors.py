"""Every complaint about templates, with its exact text and place.

A macro reads nothing but its arguments: the cases below that read something else are the proof that this is seen.
"""

from __future__ import annotations

import pytest
from revgen.templates.method_bodies import fault_of_body

from .conftest import Toy

SEALED = "templates/concerns/letters/sealed.py.jinja"
ADAPTER = "templates/adapter.py.jinja"

CASES = {
    "a macro without a choice": (
        "{% macro closed(wax) %}",
        "{% macro glued(wax) %}\nreturn text\n{% endmacro %}\n\n{% macro closed(wax) %}",
        [f"{SEALED}:6:10: macro 'glued' is not a choice of 'sealed'; choices: open, closed"],
    ),
    "a choice without a macro": (
        "{% macro open(wax) %}\nreturn text\n{% endmacro %}\n",
        "",
        [f"specs/variance/letters.yaml:53:7: choice 'open' of 'sealed' has no macro in {SEALED}"],
    ),
    "a filter that there is not": (
        "return text\n{% endmacro %}\n\n{% macro closed(wax) %}",
        "return {{ wax | glued }}\n{% endmacro %}\n\n{% macro closed(wax) %}",
        [f"{SEALED}:3:1: not a template: No filter named 'glued'."],
    ),
    "a macro defined twice": (
        "{% macro closed(wax) %}",
        "{% macro open(wax) %}\nreturn text\n{% endmacro %}\n\n{% macro closed(wax) %}",
        [f"{SEALED}:6:10: macro 'open' is defined twice"],
    ),
    "too few arguments": (
        "{% macro open(wax) %}",
        "{% macro open() %}",
        [f"{SEALED}:2:10: macro 'open' takes nothing; parameters: wax"],
    ),
    "other arguments": (
        "{% macro open(wax) %}",
        "{%- macro open(wax, glue) %}",
        [f"{SEALED}:2:11: macro 'open' takes wax, glue; parameters: wax"],
    ),
    "an argument with a default": (
        "{% macro open(wax) %}",
        "{% macro open(wax='red') %}",
        [f"{SEALED}:2:10: macro 'open' takes wax with defaults; parameters: wax"],
    ),
    "reads the revision": (
        "return text",
        "return text if {{ version }} else text",
        [f"{SEALED}:2:10: macro 'open' reads 'version'; allowed: its arguments"],
    ),
    "reads a variable of its file": (
        "{% macro open(wax) %}\nreturn text",
        "{% set color = 1 %}\n{% macro open(wax) %}\nreturn {{ color }}",
        [
            f"{SEALED}:2:1: only macros and comments may stand outside of a macro",
            f"{SEALED}:3:10: macro 'open' reads 'color'; allowed: its arguments",
        ],
    ),
    "reads another macro": (
        "return text",
        "{{ closed(wax) }}",
        [f"{SEALED}:2:10: macro 'open' reads 'closed'; allowed: its arguments"],
    ),
    "reads itself": (
        "return text",
        "{{ open(wax) }}",
        [f"{SEALED}:2:10: macro 'open' reads 'open'; allowed: its arguments"],
    ),
    "reads what Jinja offers": (
        "return text",
        "return {{ range(3) | list }} + {{ varargs }}",
        [f"{SEALED}:2:10: macro 'open' reads 'range', 'varargs'; allowed: its arguments"],
    ),
    "reads another template": (
        "return text",
        "{% include 'adapter.py.jinja' %}",
        [f"{SEALED}:3:1: macro 'open' reads another template"],
    ),
    "text outside of a macro": (
        "{% macro closed(wax) %}",
        "import os\n{% macro closed(wax) %}",
        [f"{SEALED}:6:1: only macros and comments may stand outside of a macro"],
    ),
    "no template at all": (
        "{% macro open(wax) %}",
        "{% macro open(wax %}",
        [f"{SEALED}:2:1: not a template: expected token ',', got '%'"],
    ),
    "a body that is not Python": (
        "return text",
        "x = 1\nreturn text +",
        [f"{SEALED}:2:10: the body of macro 'open' is not the body of a method: invalid syntax (line 2 of the body)"],
    ),
    "a body that is indented": (
        "return text",
        "    return text",
        [f"{SEALED}:2:10: the body of macro 'open' is not the body of a method: it does not start at column 1"],
    ),
    "a body that returns nothing": (
        "return text",
        "text.strip()",
        [f"{SEALED}:2:10: the body of macro 'open' is not the body of a method: it returns nothing; allowed: str"],
    ),
    "a body that returns something else": (
        "return text",
        "text += 'x'\nreturn [text]",
        [
            f"{SEALED}:2:10: the body of macro 'open' is not the body of a method: "
            "it returns [text] (line 2 of the body); allowed: str"
        ],
    ),
    "a body that imports": (
        "return text",
        "import os\nreturn text",
        [
            f"{SEALED}:2:10: the body of macro 'open' is not the body of a method: "
            "it imports; allowed: what templates/adapter.py.jinja imports (line 1 of the body)"
        ],
    ),
    "a body that yields": (
        "return text",
        "yield text",
        [
            f"{SEALED}:2:10: the body of macro 'open' is not the body of a method: "
            "it yields; allowed: to return at once (line 1 of the body)"
        ],
    ),
    "a body that is empty": (
        "return text",
        "",
        [f"{SEALED}:2:10: the body of macro 'open' is not the body of a method: it is empty"],
    ),
    "a body that is too long": (
        "return text",
        "text += text\n" * 24 + "return text",
        [
            f"{SEALED}:2:10: the body of macro 'open' has 25 lines; "
            "allowed: 24, and what is longer belongs in the runtime"
        ],
    ),
    "a macro that fails": (
        "return text",
        "return {{ wax / 2 }}",
        [f"{SEALED}:2:10: macro 'open' fails: unsupported operand type(s) for /: 'str' and 'int'"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_said_with_its_place(toy: Toy, name: str) -> None:
    old, new, expected = CASES[name]
    file = toy.root / SEALED
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")
    assert toy.problems() == expected


@pytest.mark.parametrize(
    ("signature", "body", "fault"),
    [
        ("(self, value: JsonObject) -> list[JsonObject]", "return value", "it returns value (line 1 of the body)"),
        ("(self, value: JsonObject) -> list[JsonObject]", "value = [value]\nreturn value", ""),
        ("(self, value: Json) -> list[JsonObject]", "return value", ""),
        ("(self) -> bool", "return 1 < 2", ""),
        ("(self) -> bool", "return None", "it returns None (line 1 of the body)"),
        ("(self) -> str | None", "return None", ""),
        ("(self) -> str | None", "return f'{1}'", ""),
        ("(self) -> JsonObject", "if self:\n    return {}\nraise ValueError", ""),
        ("(self) -> JsonObject", "raise ValueError", ""),
        ("(self) -> contract.Simplified", "return {}", ""),
        ("(self) -> None", "return", ""),
    ],
)
def test_what_a_body_returns_is_held_against_its_signature(signature: str, body: str, fault: str) -> None:
    allowed = signature.partition(" -> ")[2]
    assert fault_of_body(signature, body) == (f"{fault}; allowed: {allowed}" if fault else "")


@pytest.mark.parametrize(("old", "new"), [("letters.yaml", "Letters.yaml"), ("letters.yaml", "let-ters.yaml")])
def test_an_area_with_a_wrong_name_is_one_mistake(toy: Toy, old: str, new: str) -> None:
    (toy.root / "specs/variance" / old).rename(toy.root / "specs/variance" / new)
    (line,) = toy.problems()
    assert f"'{new.partition('.')[0]}' is not a name for an area; allowed: " in line


def test_a_choice_needs_a_template(toy: Toy) -> None:
    (toy.root / SEALED).unlink()
    assert toy.problems() == [f"specs/variance/letters.yaml:47:3: choice 'sealed' has no template; expected: {SEALED}"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "templates/concerns/letters/glued.py.jinja",
            "template of no concern; allowed: templates/concerns/<area>/<concern>.py.jinja of a choice",
        ),
        (
            "templates/concerns/letters/stamp.py.jinja",
            "template of 'stamp', which is a value; only a choice has a template",
        ),
        ("templates/concerns/stdio/sealed.py.jinja", f"template of 'sealed' in the wrong place; expected: {SEALED}"),
    ],
)
def test_a_template_needs_a_choice(toy: Toy, path: str, message: str) -> None:
    (toy.root / path).parent.mkdir(exist_ok=True)
    (toy.root / path).write_text("", "utf-8")
    assert toy.problems() == [f"{path}:1:1: {message}"]


def test_a_skeleton_that_reads_what_it_was_not_given_is_named(generated_toy: Toy) -> None:
    before = generated_toy.generated()
    generated_toy.replace(ADAPTER, "    # --- Flags ---", "    # {{ flag }}")
    result = generated_toy.run("generate")
    assert result.exit_code == 1
    # Both revisions meet the same fault, and it is said once.
    assert result.stderr == f"{ADAPTER}:16:1: cannot be rendered: 'flag' is undefined\n"
    assert generated_toy.generated() == before


def test_a_skeleton_that_is_missing_is_named(toy: Toy) -> None:
    (toy.root / "templates/protocol.py.jinja").unlink()
    assert toy.run("generate").stderr == "templates/protocol.py.jinja:1:1: cannot be read: there is no such template\n"
    assert not (toy.root / "generated").exists()


def test_a_skeleton_that_is_no_template_is_found_by_lint(toy: Toy) -> None:
    (toy.root / ADAPTER).write_text("\n{% for %}", "utf-8")
    (toy.root / SEALED).write_bytes(b"\xff")
    assert toy.problems() == [
        f"{ADAPTER}:2:1: not a template: Expected an expression, got 'end of statement block'",
        f"{SEALED}:1:1: cannot be read: UnicodeDecodeError",
    ]


def test_text_that_is_not_python_is_shown(toy: Toy) -> None:
    toy.replace(ADAPTER, "    # --- Flags ---", "    def for(self): ...")
    path = "generated/mcp_revisions/{}/adapter.py"
    message = "what the templates give is not Python: def for(self): ..."
    assert toy.run("generate").stderr.splitlines() == [
        f"{path.format('v2001_01_01')}:25:9: {message}",
        f"{path.format('v2002_02_02')}:25:9: {message}",
    ]
    assert not (toy.root / "generated").exists()
