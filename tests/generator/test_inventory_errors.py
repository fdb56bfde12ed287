"""Every complaint about the inputs, with its exact text and place, and that nothing is written while there is one.

Each case breaks the toy in one place.
"""

from __future__ import annotations

import json

import pytest

from .conftest import Toy

LETTERS = "specs/variance/letters.yaml"
NAME_RULE = "a Python name that is no keyword and no device of Windows, without a leading underscore, in lower case"
STDIO = "specs/variance/stdio.yaml"
SELECTION = "specs/selection.yaml"

CASES = {
    "a choice that is none": (
        LETTERS,
        "choice: closed",
        "choice: glued",
        [f"{LETTERS}:61:17: 'glued' is not a choice of 'sealed'; choices: open, closed"],
    ),
    "a choice that nobody answers": (
        LETTERS,
        "      closed: With wax at its end.",
        "      closed: With wax at its end.\n      glued: With glue.",
        [f"{LETTERS}:55:7: choice 'glued' of 'sealed' has no macro in templates/concerns/letters/sealed.py.jinja"],
    ),
    "a missing answer": (
        STDIO,
        '      "2002-02-02":\n        is: "\\n"\n        cite: "page: transports#stdio"\n',
        "",
        [f"{STDIO}:5:3: no answer of 'line_end' for 2002-02-02; add \"2002-02-02\" to its 'answers'"],
    ),
    "an answer for no revision": (
        STDIO,
        '"2002-02-02":',
        '"2003-03-03":',
        [
            f"{STDIO}:5:3: no answer of 'line_end' for 2002-02-02; add \"2002-02-02\" to its 'answers'",
            f"{STDIO}:12:7: '2003-03-03' is not a revision; revisions: 2001-01-01, 2002-02-02",
        ],
    ),
    "a revision without quotes": (
        STDIO,
        '"2002-02-02":',
        "2002-02-02:",
        [f"{STDIO}:12:7: a key is '2002-02-02'; allowed: \"2002-02-02\", in quotes"],
    ),
    "a key given twice": (
        STDIO,
        "    value: text",
        "    value: text\n    value: text",
        [f"{STDIO}:8:5: duplicate key 'value'; first given at line 7"],
    ),
    "an unknown key of an area": (
        STDIO,
        "title: Standard streams",
        "title: Standard streams\nsince: 1",
        [f"{STDIO}:3:1: 'since' is not a key of this area; allowed: title, transport, concerns"],
    ),
    "an unknown key of a concern": (
        STDIO,
        "    value: text",
        "    value: text\n    default: x",
        [
            f"{STDIO}:8:5: 'default' is not a key of concern 'line_end'; "
            "allowed: question, value, flag, names, needs, fills, orders, among, excludes, read_by, answers"
        ],
    ),
    "an unknown key of an answer": (
        LETTERS,
        "        is: 3",
        "        is: 3\n        since: 1",
        [f"{LETTERS}:22:9: 'since' is not a key of answer '2001-01-01'; allowed: is, cite, review"],
    ),
    "a missing key of an area": (
        STDIO,
        "title: Standard streams\n",
        "",
        [f"{STDIO}:2:1: this area has no 'title'; allowed: title, transport, concerns"],
    ),
    "a missing key of a concern": (
        STDIO,
        "    question: What ends a line?\n",
        "",
        [
            f"{STDIO}:5:3: concern 'line_end' has no 'question'; allowed: question, value, flag, names, needs, fills, orders, among, excludes, read_by, answers"
        ],
    ),
    "a missing citation": (
        LETTERS,
        '        is: 3\n        cite: "page: letters#stamps"',
        "        is: 3",
        [f"{LETTERS}:20:7: answer '2001-01-01' has no 'cite'; allowed: is, cite, review"],
    ),
    "a concern of no kind": (
        STDIO,
        "    value: text\n",
        "",
        [f"{STDIO}:5:3: 'line_end' has none; allowed: one of the keys value, table, choices"],
    ),
    "a concern of two kinds": (
        STDIO,
        "    value: text\n",
        "    value: text\n    table: text\n",
        [f"{STDIO}:5:3: 'line_end' has 'value' and 'table'; allowed: one of the keys value, table, choices"],
    ),
    "a concern that is no mapping": (
        SELECTION,
        "rules:",
        "rule: 1\nrules:",
        [f"{SELECTION}:2:1: 'rule' is not a key of this file; allowed: rules"],
    ),
    "a type that is none": (
        STDIO,
        "    value: text",
        "    value: string",
        [
            f"{STDIO}:7:12: 'value' is 'string'; "
            "allowed: boolean, integer, text, integer or none, text or none, boolean or none, list of text"
        ],
    ),
    "a value of another type": (
        LETTERS,
        "is: 3",
        'is: "3"',
        [f"{LETTERS}:21:13: the answer of 'stamp' for 2001-01-01 is \"3\"; allowed: a whole number or none"],
    ),
    "a value that is forgotten": (
        LETTERS,
        "is: 3",
        "is:",
        [f"{LETTERS}:21:12: the answer of 'stamp' for 2001-01-01 is empty; allowed: a whole number or none"],
    ),
    "a flag that is no boolean": (
        LETTERS,
        "        is: yes",
        "        is: maybe",
        [f"{LETTERS}:13:13: the answer of 'can_ask' for 2002-02-02 is 'maybe'; allowed: yes or no"],
    ),
    "an order of what is no list": (
        LETTERS,
        "    value: integer or none",
        "    value: integer or none\n    orders: Letter",
        [f"{LETTERS}:19:13: 'orders' stands beside 'value: integer or none'; allowed: beside 'value: list of text'"],
    ),
    "a flag of another type": (
        LETTERS,
        "    value: integer or none",
        "    value: integer or none\n    flag: yes",
        [f"{LETTERS}:19:11: 'flag' stands beside 'value: integer or none'; allowed: beside 'value: boolean'"],
    ),
    "a row of another type": (
        LETTERS,
        '          secret: "?"',
        "          secret: [a, b]",
        [f"{LETTERS}:37:19: row 'secret' is a list; allowed: text or none"],
    ),
    "rows that are no mapping": (
        LETTERS,
        '        rows:\n          urgent: "!!"\n          secret: none',
        "        rows: none",
        [f"{LETTERS}:40:15: 'rows' is 'none'; allowed: a mapping"],
    ),
    "a parameter that is not given": (
        LETTERS,
        "        with: {wax: red}",
        "        with: {}",
        [f"{LETTERS}:62:9: the answer of 'sealed' for 2002-02-02 does not give parameter 'wax'; parameters: wax"],
    ),
    "no parameters at all": (
        LETTERS,
        "        with: {wax: red}\n",
        "",
        [f"{LETTERS}:60:7: the answer of 'sealed' for 2002-02-02 does not give parameter 'wax'; parameters: wax"],
    ),
    "a parameter that does not exist": (
        LETTERS,
        "with: {wax: red}",
        "with: {wax: red, glue: white}",
        [f"{LETTERS}:62:26: 'glue' is not a parameter of 'sealed'; parameters: wax"],
    ),
    "a parameter of another type": (
        LETTERS,
        "with: {wax: red}",
        "with: {wax: [red]}",
        [f"{LETTERS}:62:21: parameter 'wax' is a list; allowed: text"],
    ),
    "a citation of no form": (
        LETTERS,
        '"page: letters#stamps"',
        '"page: letters"',
        [
            f"{LETTERS}:22:15: 'cite' is \"page: letters\"; allowed: 'page: <path>#<heading>', "
            "'schema: #/<pointer>', 'policy: seed: <why>', 'policy: project: <why>'"
        ],
    ),
    "a policy of nobody": (
        LETTERS,
        "policy: seed: Nobody",
        "policy: Nobody",
        [
            f"{LETTERS}:11:15: 'cite' is \"policy: Nobody answered letters then.\"; allowed: "
            "'page: <path>#<heading>', 'schema: #/<pointer>', 'policy: seed: <why>', 'policy: project: <why>'"
        ],
    ),
    "no citation": (
        LETTERS,
        '"page: letters#stamps"',
        "[]",
        [
            f"{LETTERS}:22:15: 'cite' is an empty list; allowed: one citation or more, each 'page: <path>#<heading>', "
            "'schema: #/<pointer>', 'policy: seed: <why>', 'policy: project: <why>'"
        ],
    ),
    "a page with its revision": (
        LETTERS,
        '"page: letters#stamps"',
        '"page: 2001-01-01/letters#stamps"',
        [
            f"{LETTERS}:22:15: 'cite' is \"page: 2001-01-01/letters#stamps\"; allowed: a page by its path without the revision"
        ],
    ),
    "a pointer to nothing": (
        LETTERS,
        '"schema: #/$defs/Letter/properties/mark"',
        '"schema: #/$defs/Letter/properties/color"',
        [
            f"{LETTERS}:38:15: '#/$defs/Letter/properties/color' is not in the schema of 2001-01-01; "
            "'#/$defs/Letter/properties' has no 'color'"
        ],
    ),
    "a name of two concerns": (
        STDIO,
        "  line_end:",
        "  stamp:",
        [f"{STDIO}:5:3: 'stamp' is already a concern at {LETTERS}:16:3"],
    ),
    "a name that is no name": (
        STDIO,
        "  line_end:",
        "  line-end:",
        [f"{STDIO}:5:3: a key is 'line-end'; allowed: {NAME_RULE}"],
    ),
    "a number that is too long": (
        LETTERS,
        "        is: 3\n",
        f"        is: {'9' * 5_000}\n",
        [f"{LETTERS}:21:13: the answer of 'stamp' for 2001-01-01 is '{'9' * 120}…'; allowed: a whole number or none"],
    ),
    "a tag": (
        STDIO,
        "title: Standard",
        "title: !!str Standard",
        [
            f"{STDIO}:2:8: not YAML: 'tag:yaml.org,2002:str' is a tag, and nothing reads it; allowed: what it stands before"
        ],
    ),
    "a name that is a keyword": (
        STDIO,
        "  line_end:",
        "  class:",
        [f"{STDIO}:5:3: a key is 'class'; allowed: {NAME_RULE}"],
    ),
    "a name that Windows has for a device": (
        STDIO,
        "  line_end:",
        "  Aux:",
        [f"{STDIO}:5:3: a key is 'Aux'; allowed: {NAME_RULE}"],
    ),
    "a name that every adapter has": (
        STDIO,
        "  line_end:",
        "  version:",
        [f"{STDIO}:5:3: 'version' is an attribute that every adapter has; a concern needs another name"],
    ),
    "a signature that does not parse": (
        LETTERS,
        '"(self, text: str) -> str"',
        '"(self, text: str -> str"',
        [
            f"{LETTERS}:49:16: 'signature' is \"(self, text: str -> str\"; "
            "allowed: (self, <name>: <type>, ...) -> <type>, every parameter annotated"
        ],
    ),
    "a signature without self": (
        LETTERS,
        '"(self, text: str) -> str"',
        '"(text: str) -> str"',
        [
            f"{LETTERS}:49:16: 'signature' is \"(text: str) -> str\"; "
            "allowed: (self, <name>: <type>, ...) -> <type>, every parameter annotated"
        ],
    ),
    "a signature that smuggles": (
        LETTERS,
        '"(self, text: str) -> str"',
        '"(self) -> str: pass; x = lambda"',
        [
            f"{LETTERS}:49:16: 'signature' is \"(self) -> str: pass; x = lambda\"; "
            "allowed: (self, <name>: <type>, ...) -> <type>, every parameter annotated"
        ],
    ),
    "a transport that is none": (
        STDIO,
        "transport: stdio",
        "transport: pigeon",
        [f"{STDIO}:3:12: 'transport' is 'pigeon'; allowed: streamable_http, http_sse, stdio"],
    ),
    "something filled that nobody asks for": (
        LETTERS,
        "    value: integer or none",
        "    value: integer or none\n    fills: price",
        [f"{LETTERS}:19:12: 'price' is not in the canonical vocabulary"],
    ),
    "two parts at once": (
        LETTERS,
        "    choices:",
        "    adjusts: Letter\n    replaces: Card\n    choices:",
        [f"{LETTERS}:53:15: 'adjusts' and 'replaces' stand side by side; allowed: one of them"],
    ),
    "text that is no YAML": (
        STDIO,
        "title: Standard streams",
        "title: Standard: streams",
        [f"{STDIO}:2:16: not YAML: mapping values are not allowed here"],
    ),
    "words in two lines": (
        LETTERS,
        "        is: 3",
        '        is: 3\n        review: "look\\nhere"',
        [f"{LETTERS}:22:9: the answer of 'stamp' for 2001-01-01 is to be reviewed: look\\nhere"],
    ),
    "a rule without words": (
        SELECTION,
        "    says: A letter without a date is an old one.\n",
        "",
        [f"{SELECTION}:3:3: rule 'absence' has no 'says'; allowed: says, with, refusal, cite"],
    ),
    "a rule that cites a schema": (
        SELECTION,
        '"page: letters#dates"',
        '"schema: #/$defs/Letter"',
        [f"{SELECTION}:7:11: rule 'absence' cites a schema; allowed: 'page: <path>#<heading>' or a policy"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_said_with_its_place(toy: Toy, name: str) -> None:
    path, old, new, expected = CASES[name]
    toy.replace(path, old, new)
    assert toy.problems() == expected


def test_all_faults_of_all_files_are_said_at_once(toy: Toy) -> None:
    toy.replace(LETTERS, "is: 3", "is: x")
    toy.replace(LETTERS, "choice: closed", "choice: glued")
    toy.replace(STDIO, "transport: stdio", "transport: pigeon")
    toy.replace(SELECTION, "rules:", "rule: 1\nrules:")
    problems = toy.problems()
    assert [line.split(":")[0] for line in problems] == [SELECTION, LETTERS, LETTERS, STDIO]


@pytest.mark.parametrize("command", ["generate", "check", "matrix"])
def test_nothing_is_written_while_anything_is_wrong(generated_toy: Toy, command: str) -> None:
    before = generated_toy.generated()
    generated_toy.replace(LETTERS, "choice: closed", "choice: glued")
    result = generated_toy.run(command)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert f"{LETTERS}:61:17: 'glued' is not a choice of 'sealed'; choices: open, closed" in result.stderr.splitlines()
    assert generated_toy.generated() == before


def test_lint_gives_problems_as_json(toy: Toy) -> None:
    assert json.loads(toy.run("lint", "--json").stdout) == {"problems": []}
    toy.replace(STDIO, "transport: stdio", "transport: pigeon")
    result = toy.run("lint", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "problems": [
            {
                "path": STDIO,
                "line": 3,
                "column": 12,
                "message": "'transport' is 'pigeon'; allowed: streamable_http, http_sse, stdio",
                "degree": "fault",
            }
        ]
    }
