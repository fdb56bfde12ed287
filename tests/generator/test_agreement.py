"""What an answer names must be there: in the schema of its revision, in other answers, in what every adapter has.

Each case breaks a copy of the project's own inputs in one place, and lint says so in one line there. Cases of a group are tried at once, so
that each is said whatever else is wrong.
"""

from __future__ import annotations

import json
import pathlib
import re
import shutil

import pytest

from .conftest import REPOSITORY, Toy

VARIANCE = "specs/variance/"

CASES = {
    "a code that the schema has otherwise": (
        VARIANCE + "envelope.yaml",
        "          unsupported_version: -32022\n",
        "          unsupported_version: -32004\n",
        r"envelope.yaml:\d+:\d+: 'unsupported_version' is -32004; UnsupportedProtocolVersionError of \S+ has -32022",
    ),
    "a code that is not answered": (
        VARIANCE + "envelope.yaml",
        "          header_mismatch: -32020\n",
        "          header_mismatch: none\n",
        r"envelope.yaml:\d+:\d+: 'header_mismatch' is none; HeaderMismatchError of \S+ has -32020",
    ),
    "a row that is misspelt": (
        VARIANCE + "envelope.yaml",
        "          method_not_found: -32601\n",
        "          method_not_fond: -32601\n",
        r"envelope.yaml:\d+:\d+: 'method_not_fond' is not a row of 'error_codes'; rows: parse_error, .*",
    ),
    "a key of _meta that the schema lacks": (
        VARIANCE + "envelope.yaml",
        "          io.modelcontextprotocol/logLevel: none\n",
        "          io.modelcontextprotocol/logLevel: request\n",
        r"envelope.yaml:\d+:\d+: the schema of \S+ has no 'io.modelcontextprotocol/logLevel' in `_meta`; allowed: none",
    ),
    "a check that is none": (
        VARIANCE + "envelope.yaml",
        "is: [check_meta, check_method, check_params]",
        "is: [check_meta, check_methods, check_params]",
        r"envelope.yaml:\d+:\d+: 'check_methods' is no check of a request; checks: check_meta, check_method, check_params",
    ),
    "a check of another message": (
        VARIANCE + "envelope.yaml",
        '"2025-03-26": {is: [check_meta, check_method, check_params]',
        '"2025-03-26": {is: [check_meta, check_method, check_question]',
        r"envelope.yaml:\d+:\d+: 'check_question' is no check of a request; checks: check_meta, check_method, check_params",
    ),
    "all checks as one of them": (
        VARIANCE + "envelope.yaml",
        '"2025-06-18": {is: [check_meta, check_method, check_params]',
        '"2025-06-18": {is: [check_meta, check_request, check_params]',
        r"envelope.yaml:\d+:\d+: 'check_request' is no check of a request; checks: check_meta, check_method, check_params",
    ),
    "a check that takes something else": (
        VARIANCE + "envelope.yaml",
        '"2025-11-25": {is: [check_meta, check_method, check_params]',
        '"2025-11-25": {is: [check_meta, check_headers, check_params]',
        r"envelope.yaml:\d+:\d+: 'check_headers' is no check of a request; checks: check_meta, check_method, check_params",
    ),
    "a check that is left out": (
        VARIANCE + "envelope.yaml",
        '"2026-07-28": {is: [check_meta, check_method, check_params]',
        '"2026-07-28": {is: [check_meta, check_meta, check_params]',
        r"envelope.yaml:\d+:\d+: 'check_order' does not have each check once; allowed: check_meta, check_method, check_params, in any order",
    ),
    "a header that another concern names": (
        VARIANCE + "streamable_http.yaml",
        "{is: Mcp-Name,",
        "{is: mcp-method,",
        r"streamable_http.yaml:\d+:\d+: 'mcp-method' is what 'method_header' names in 2026-07-28; allowed: another header",
    ),
    "a status that ends nothing": (
        VARIANCE + "streamable_http.yaml",
        "          resource_not_found: 200\n",
        "          resource_not_found: 999\n",
        r"streamable_http.yaml:\d+:11: 999 is no status that a request can end with; allowed: 200 to 599",
    ),
    "a status of a value, likewise": (
        VARIANCE + "streamable_http.yaml",
        '{is: 202, cite: "page: basic/transports#sending-messages-to-the-server"}',
        '{is: 20, cite: "page: basic/transports#sending-messages-to-the-server"}',
        r"streamable_http.yaml:\d+:\d+: 20 is no status that a request can end with; allowed: 200 to 599",
    ),
    "a format that forms do not have": (
        VARIANCE + "asking.yaml",
        '{is: [email, uri, date, date-time], cite: "page: client/elicitation#supported',
        '{is: [emial, uri, date, date-time], cite: "page: client/elicitation#supported',
        r"asking.yaml:\d+:\d+: 'emial' is not a value there; near: email; StringSchema.format of 2025-06-18 has date, .*",
    ),
    "two ways to ask at once": (
        VARIANCE + "asking.yaml",
        'but a caller reads the result and calls again."}\n      "2025-06-18": {is: false,',
        'but a caller reads the result and calls again."}\n      "2025-06-18": {is: true,',
        r"asking.yaml:\d+:\d+: 'asks_in_arguments' excludes 'can_push_ask', which 2025-06-18 answers with yes; allowed for one of them: no",
    ),
    "a header of HTTP's own": (
        VARIANCE + "streamable_http.yaml",
        "{is: Last-Event-ID, ",
        "{is: Content-Type, ",
        r"streamable_http.yaml:\d+:\d+: 'Content-Type' is a header of HTTP's own, as 'content-type' is; allowed: .*",
    ),
    "headers that begin like one of HTTP's own": (
        VARIANCE + "streamable_http.yaml",
        "{is: Mcp-Param-, ",
        "{is: Content-, ",
        r"streamable_http.yaml:\d+:\d+: 'Content-' is a header of HTTP's own, as 'content-\S+' is; allowed: .*",
    ),
    "nothing where a text may be none": (
        VARIANCE + "lifecycle.yaml",
        '{is: none, cite: "page: server/discover#when-to-call"}',
        '{is: null, cite: "page: server/discover#when-to-call"}',
        r"lifecycle.yaml:\d+:\d+: the answer of 'ready_notification' for 2026-07-28 is 'null'; allowed: text or none",
    ),
    "what fills a member and is out of its bounds": (
        VARIANCE + "envelope.yaml",
        "{is: 0, cite",
        "{is: -5, cite",
        r"envelope.yaml:\d+:\d+: \w+.ttlMs of 2026-07-28 does not take -5: .*",
    ),
    "what adjusts a union": (
        VARIANCE + "asking.yaml",
        "adjusts: ElicitRequestFormParams",
        "adjusts: ContentBlock",
        r"asking.yaml:\d+:\d+: 'ContentBlock' is no type of objects; allowed: a type of the vocabulary that has members",
    ),
    "what adjusts, and gives no object": (
        VARIANCE + "tools.yaml",
        'signature: "(self, tool: JsonObject) -> JsonObject"',
        'signature: "(self, tool: JsonObject) -> Json"',
        r"tools.yaml:\d+:\d+: 'tool_title' adjusts 'Tool'; allowed for that, with any name: \(self, name: JsonObject\) -> JsonObject",
    ),
    "what replaces a block, and gives one": (
        VARIANCE + "content.yaml",
        'signature: "(self, block: JsonObject) -> list[JsonObject]"\n    replaces: SamplingMessageContentBlock.AudioContent',
        'signature: "(self, block: JsonObject) -> JsonObject"\n    replaces: SamplingMessageContentBlock.AudioContent',
        r"content.yaml:\d+:\d+: 'sampled_audio_content' replaces 'SamplingMessageContentBlock.AudioContent'; allowed for that, with any name: \(self, name: JsonObject\) -> list.*",
    ),
    "a request that there is not": (
        VARIANCE + "lifecycle.yaml",
        "{is: server/discover,",
        "{is: server/describe,",
        r"lifecycle.yaml:\d+:\d+: 'server/describe' is not a request of a client in \S+; near: server/discover",
    ),
    "a value that the type in order lacks": (
        VARIANCE + "notifications.yaml",
        '"2025-11-25": {is: [debug, info, notice,',
        '"2025-11-25": {is: [debug, info, note,',
        r"notifications.yaml:\d+:\d+: 'log_levels' lacks notice of 2025-11-25; allowed: exactly alert, .*, in their order",
    ),
    "a value more than the type in order has": (
        VARIANCE + "notifications.yaml",
        '"2025-06-18": {is: [debug, info, notice,',
        '"2025-06-18": {is: [trace, debug, info, notice,',
        r"notifications.yaml:\d+:\d+: 'log_levels' has more than LoggingLevel of 2025-06-18; allowed: exactly alert, .*",
    ),
    "a type in order that there is not": (
        VARIANCE + "notifications.yaml",
        "orders: LoggingLevel",
        "orders: LogingLevel",
        r"notifications.yaml:\d+:\d+: 'LogingLevel' is a type with values in no schema; near: LoggingLevel",
    ),
    "a session without a handshake": (
        VARIANCE + "streamable_http.yaml",
        '{is: none, cite: "page: basic/transports/streamable-http#earlier-streamable-http-revisions"}',
        '{is: Mcp-Session-Id, cite: "page: basic/transports/streamable-http#earlier-streamable-http-revisions"}',
        r"streamable_http.yaml:\d+:\d+: 'session_header' needs 'has_handshake', which \S+ answers with no; allowed: none",
    ),
    "a concern with a name that every adapter has": (
        VARIANCE + "stdio.yaml",
        "  stdio_restarts:",
        "  build:",
        r"stdio.yaml:\d+:3: 'build' is an attribute that every adapter has; a concern needs another name",
    ),
    "a concern with a name of Python's own": (
        VARIANCE + "stdio.yaml",
        "  stdio_cancels_listening:",
        "  list:",
        r"stdio.yaml:\d+:3: 'list' is a name of Python's own; a concern needs another name",
    ),
    "a signature with a type that is not imported": (
        VARIANCE + "lifecycle.yaml",
        '"(self, result: JsonObject) -> list[str]"',
        '"(self, result: JsonObjects) -> list[str]"',
        r"lifecycle.yaml:\d+:\d+: the signature of 'described_versions' uses 'JsonObjects', which nothing defines; near: .*",
    ),
    "a macro that uses what nothing defines": (
        "templates/concerns/streamable_http/suggests_http_sse.py.jinja",
        "return status in (400, 404, 405)",
        "return state in (400, 404, 405)",
        r"suggests_http_sse.py.jinja:\d+:\d+: macro 'not_that_endpoint' uses 'state', which nothing defines; near: status",
    ),
    "a macro that uses what no adapter has": (
        "templates/concerns/streamable_http/request_headers.py.jinja",
        "return contract.named_headers({self.session_header: session})",
        "return contract.named_headers({self.sesion_header: session})",
        r"request_headers.py.jinja:\d+:\d+: macro 'session' uses 'self.sesion_header', which no adapter has; near: session_header.*",
    ),
    "something adjusted that does not exist": (
        VARIANCE + "tools.yaml",
        "    adjusts: CallToolResult",
        "    adjusts: CallToolsResult",
        r"tools.yaml:\d+:14: 'CallToolsResult' is not in the canonical vocabulary; near: CallToolResult.*",
    ),
    "a rule that is misspelt": (
        "specs/selection.yaml",
        "  handshake:",
        "  handshakes:",
        r"selection.yaml:\d+:3: rule 'handshakes' has no macro in templates/rules.py.jinja; near: handshake",
    ),
    "a constant that is misspelt": (
        "specs/selection.yaml",
        "{header: version_header}",
        "{headers: version_header}",
        r"selection.yaml:\d+:\d+: 'headers' is not a constant of rule 'version_header'; constants: header",
    ),
    "a move that lacks a name": (
        "specs/canonical.yaml",
        "  - name: a reference to a resource became one to a template\n    from:",
        "  - from:",
        r"canonical.yaml:\d+:\d+: .*'name'.*",
    ),
    "a correction of no revision": (
        "specs/corrections.yaml",
        '- revision: "2026-07-28"',
        '- revision: "2026-07-29"',
        r"corrections.yaml:\d+:\d+: .*'2026-07-29'.*",
    ),
    "a rule without words": (
        "specs/selection.yaml",
        "    says: A message with a version header is answered by the revision in it.\n",
        "",
        r"selection.yaml:\d+:\d+: .*'version_header'.*'says'.*",
    ),
    "two concerns that fill the same": (
        VARIANCE + "envelope.yaml",
        "    fills: cacheScope\n",
        "    fills: ttlMs\n",
        r"envelope.yaml:\d+:12: 'cache_scope' fills 'ttlMs', and so does 'cache_lifetime'; allowed: one concern for each",
    ),
    "two concerns that replace the same": (
        VARIANCE + "content.yaml",
        "    replaces: AudioContent\n",
        "    replaces: ResourceLink\n",
        r"content.yaml:\d+:15: '\w+' replaces 'ResourceLink', and so does '\w+'; allowed: one concern for each",
    ),
    "something filled that does not exist": (
        VARIANCE + "envelope.yaml",
        "    fills: resultType\n",
        "    fills: resultTypes\n",
        r"envelope.yaml:\d+:12: 'resultTypes' is not in the canonical vocabulary; near: resultType.*",
    ),
    "something replaced that does not exist": (
        VARIANCE + "content.yaml",
        "    replaces: ResourceLink\n",
        "    replaces: ResourceLinks\n",
        r"content.yaml:\d+:15: 'ResourceLinks' is not in the canonical vocabulary; near: ResourceLink.*",
    ),
    "a method that nothing knows": (
        "specs/selection.yaml",
        "method: initialize,",
        "method: initialise,",
        r"selection.yaml:\d+:\d+: rule 'handshakes?' compares with 'initialise', which is not a request of a client in any schema; .*",
    ),
    "a member that nothing knows": (
        "specs/selection.yaml",
        "member: protocolVersion}",
        "member: protocolVersions}",
        r"selection.yaml:\d+:\d+: rule 'handshakes?' compares with 'protocolVersions', which is not a member of any params; .*",
    ),
    "a key that nothing knows": (
        "specs/selection.yaml",
        "{key: io.modelcontextprotocol/protocolVersion,",
        "{key: io.modelcontextprotocol/version,",
        r"selection.yaml:\d+:\d+: rule 'modern_key' compares with 'io.modelcontextprotocol/version', which is not a key of `_meta` .*",
    ),
    "a revision that does not exist": (
        "specs/selection.yaml",
        '{version: "2025-03-26"}',
        '{version: "2025-03-27"}',
        r"selection.yaml:\d+:\d+: rule 'absence' compares with '2025-03-27', which is not a revision; near: .*",
    ),
}


@pytest.fixture
def copy(tmp_path: pathlib.Path) -> Toy:
    """The project's own inputs."""
    for folder in ("specs", "templates"):
        shutil.copytree(REPOSITORY / folder, tmp_path / folder)
    return Toy(tmp_path)


# Nothing can be compared with schemas, or by rules, that could not be read. All else is said in one run.
GROUPS = {
    "files": ("a move that lacks a name", "a correction of no revision"),
    "rules of the selection, and what another case has changed already": (
        "a rule without words",
        "two concerns that replace the same",
        "a type in order that there is not",
    ),
}
GROUPS["all else"] = tuple(name for name in CASES if not any(name in group for group in GROUPS.values()))


def test_a_revision_that_is_there_was_not_removed(copy: Toy) -> None:
    file = copy.root / "specs/revisions.yaml"
    version = re.findall(r'^  "(.+)":$', file.read_text("utf-8"), re.MULTILINE)[0]
    file.write_text(file.read_text("utf-8") + f'removed: ["{version}"]\n', "utf-8")
    assert f"'{version}' is a revision, and not removed; allowed: one that was taken out" in copy.run("lint").stdout


@pytest.mark.parametrize("group", GROUPS)
def test_what_does_not_agree_is_said_with_its_place(copy: Toy, group: str) -> None:
    for name in GROUPS[group]:
        path, old, new, _ = CASES[name]
        text = (copy.root / path).read_text("utf-8")
        assert old in text, name
        (copy.root / path).write_text(text.replace(old, new, 1), "utf-8")
    result = copy.run("lint", "--json")
    assert result.exit_code == 1
    faults = [problem for problem in json.loads(result.stdout)["problems"] if problem["degree"] == "fault"]
    lines = ["{path}:{line}:{column}: {message}".format(**problem) for problem in faults]
    unsaid = [name for name in GROUPS[group] if not [line for line in lines if re.search(f"{CASES[name][-1]}$", line)]]
    assert unsaid == [], lines


ONE_LINE = {
    "a member that a choice reads, misspelt": (
        VARIANCE + "asking.yaml",
        "reads: [ClientCapabilities.elicitation.url]",
        "reads: [ClientCapabilities.elicitation.ulr]",
    ),
    "what excludes itself": (VARIANCE + "asking.yaml", "excludes: [can_ask]\n", "excludes: [can_push_ask]\n"),
    "something filled that is misspelt": (VARIANCE + "envelope.yaml", "fills: ttlMs", "fills: ttlMS"),
    "something filled of another type": (VARIANCE + "envelope.yaml", "fills: ttlMs", "fills: Tool"),
    "something replaced that is misspelt": (
        VARIANCE + "content.yaml",
        "replaces: AudioContent\n",
        "replaces: AudoContent\n",
    ),
    "something replaced twice": (VARIANCE + "content.yaml", "replaces: ResourceLink\n", "replaces: AudioContent\n"),
    "a value replaced as a block is": (VARIANCE + "content.yaml", "replaces: AudioContent\n", "replaces: Role\n"),
    "something refused that is misspelt": ("specs/canonical.yaml", "    - ToolUseContent\n", "    - TolUseContent\n"),
    "something kept that is misspelt": ("specs/canonical.yaml", "    - ElicitRequest\n", "    - ElicitReqest\n"),
    "a rule that is misspelt": ("specs/selection.yaml", "  version_header:\n", "  version_heder:\n"),
    "a circle of moves": (
        "specs/canonical.yaml",
        "moves:\n",
        "moves:\n  - {name: x, from: Tool, to: Prompt}\n  - {name: y, from: Prompt, to: Tool}\n",
    ),
    "a session without a handshake": CASES["a session without a handshake"][:3],
    "no header where code wants one": (VARIANCE + "streamable_http.yaml", "is: Mcp-Method", "is: none"),
    "code for headers that there are not": (
        VARIANCE + "streamable_http.yaml",
        '"2025-11-25": {choice: agreed_version,',
        '"2025-11-25": {choice: mirrored,',
    ),
    "a type that nothing defines, in a signature": (
        VARIANCE + "content.yaml",
        '"(self, block: JsonObject) -> list[JsonObject]"',
        '"(self, block: JsonObjet) -> list[JsonObject]"',
    ),
    "a parameter with another name than in the macros": (
        VARIANCE + "content.yaml",
        '"(self, block: JsonObject) -> list[JsonObject]"',
        '"(self, blok: JsonObject) -> list[JsonObject]"',
    ),
    "a type in order that there is not": CASES["a type in order that there is not"][:3],
    "a name that a skeleton was not given": ("templates/adapter.py.jinja", "{{ decision.name }}", "{{ decision.nme }}"),
    "a name that a rule was not given": ("templates/rules.py.jinja", '"{{ member }}"', '"{{ membr }}"'),
    "a name that a template of models was not given": (
        "templates/models/TypeAliasType.jinja2",
        "{{ docstring }}",
        "{{ docstrng }}",
    ),
    "a filter that there is not": (
        "templates/models/TypeAliasType.jinja2",
        "{{ docstring }}",
        "{{ docstring | wrapped }}",
    ),
}


# Each has to be alone, and reading all inputs takes long: `make test` tries every other one.
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.thorough if place % 2 else ()) for place, name in enumerate(ONE_LINE)],
)
def test_one_mistake_is_one_line(copy: Toy, name: str) -> None:
    """Nothing is said of what follows from it."""
    path, old, new = ONE_LINE[name]
    text = (copy.root / path).read_text("utf-8")
    assert old in text
    (copy.root / path).write_text(text.replace(old, new, 1), "utf-8")
    lines = copy.problems()
    assert len(lines) == 1, lines
    assert re.match(r"(specs|templates)/\S+:\d+:\d+: ", lines[0])


def test_a_capability_that_moved_is_read_nowhere_else(copy: Toy) -> None:
    newest = sorted((copy.root / "specs/schemas").glob("*.json"))[-1]
    text = newest.read_text("utf-8")
    start = text.index('"ClientCapabilities": {')
    newest.write_text(text[:start] + text[start:].replace('"elicitation": {', '"asking": {', 1), "utf-8")
    found = copy.run("lint").stdout
    assert re.search(r"'\w+' reads 'ClientCapabilities[.\w]*\.elicitation\.url', which (the|no) schema", found)


def test_a_template_of_the_models_that_reads_what_is_not_there_is_named(toy: Toy) -> None:
    template = next(
        path for path in sorted((toy.root / "templates/models").rglob("*.jinja2")) if "BaseModel" in path.name
    )
    template.write_text("{{ nothing.at_all }}\n" + template.read_text("utf-8"), "utf-8")
    result = toy.run("generate")
    assert result.exit_code == 1
    assert f"{template.relative_to(toy.root).as_posix()}:1:1: reads 'nothing', which nothing gives it" in result.stderr


def test_what_cannot_be_read_hides_no_other_fault(copy: Toy) -> None:
    """Of a concern with a fault of form the other answers are compared, and so is all that stands beside it."""
    envelope = copy.root / VARIANCE / "envelope.yaml"
    for name in ("a code that the schema has otherwise", "a check that is none"):
        _, old, new, _ = CASES[name]
        envelope.write_text(envelope.read_text("utf-8").replace(old, new, 1), "utf-8")
    text = envelope.read_text("utf-8")
    head, concern, rest = text.partition("\n  error_codes:\n")
    assert concern
    # An answer of the same concern that is none, a concern without a question, and an area that is no YAML.
    envelope.write_text(
        head + concern + rest.replace("          parse_error: -32700", "          parse_error: x", 1), "utf-8"
    )
    lines = copy.problems()
    assert [line for line in lines if "row 'parse_error' is 'x'; allowed: a whole number or none" in line]
    assert [line for line in lines if re.search(CASES["a code that the schema has otherwise"][-1], line)]
    assert [line for line in lines if re.search(CASES["a check that is none"][-1], line)]
    lifecycle = copy.root / VARIANCE / "lifecycle.yaml"
    lifecycle.write_text(lifecycle.read_text("utf-8").replace("    question:", "    questoin:", 1), "utf-8")
    (copy.root / VARIANCE / "stdio.yaml").write_text("title: [\n", "utf-8")
    lines = copy.problems()
    assert [line for line in lines if "'questoin' is not a key of concern" in line]
    assert [line for line in lines if "stdio.yaml:2:1: not YAML" in line]
    assert [line for line in lines if re.search(CASES["a code that the schema has otherwise"][-1], line)]
    # Nobody is blamed for naming what could not be read.
    assert not [line for line in lines if "is not a concern" in line or "template of no concern" in line], lines
    # That the question is missing is said by that.
    assert len(lines) == 4, lines
