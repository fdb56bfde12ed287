"""`mcp-anyrev call`, `list`, `read`, `prompt` and `listen`: what they send, what they show, and how they end.

Citations: server/tools#calling-tools, client/elicitation#response-actions, basic/transports.
"""

from __future__ import annotations

import json
import pathlib
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest
from click.testing import Result
from mcp_revisions import AdapterSet
from offering import PIXEL, SOUND

Run = Callable[..., Result]
OFFERING = "offering.py:registry"
SKILLED = "skilled.py:registry"
ADAPTERS = AdapterSet.default()
COMMANDS = ("call", "list", "read", "prompt", "skills", "listen")


def call(run: Run, *arguments: str, text: str | None = None) -> Result:
    return run("call", OFFERING, *arguments, text=text)


# --- Arguments ---


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (["text=5"], {"text": "5"}),
        (["text=true", "count=-3", "share=2", "sure=true"], {"text": "true", "count": -3, "share": 2.0, "sure": True}),
        (["text=", "tags=a", "tags=b,c"], {"text": "", "tags": ["a", "b,c"]}),
        (["text=a=b", 'tags=["x"]', 'place={"city": "Rome"}'], {"text": "a=b", "tags": ["x"], "place": "Rome"}),
        (['text:="x"', "count:=7", "color=green"], {"text": "x", "count": 7, "color": "green"}),
    ],
)
def test_arguments_are_typed_by_the_schema_of_the_tool(
    run: Run, revision: str, pairs: list[str], expected: dict[str, object]
) -> None:
    ran = call(run, "typed", *pairs, "--revision", revision)
    assert ran.exit_code == 0, ran.stderr
    given = json.loads(ran.stdout)
    assert {name: given[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["typed", "text=x", "count=many"], "typed: count is integer; 'many' is not"),
        (["typed", "text=x", "sure=yes"], "sure is boolean; 'yes' is not"),
        (["typed", "text=x", "color=blue"], "color is one of red, green; 'blue' is not"),
        (["typed", "txt=x"], "there is no 'txt' (is it 'text'?); there is: text (string, required), count (integer)"),
        (["typed"], "text (string, required)"),
        (["typed", "text=x", "text=y"], "'text' is given twice, and is no array"),
        (["typed", "text:={"], "text:= is followed by JSON"),
        (["typed", "nothing"], "'nothing' is none of key=value and key:=JSON"),
        (["typd", "text=x"], "the server has no 'typd' (is it 'typed'?); it has: typed, pictures"),
        (["typed", "--json-args", "{"], "that is no JSON"),
        (["typed", "--json-args", "[]"], "that is no JSON object"),
        (["typed", "--json-args", "@absent.json"], "absent.json cannot be read"),
        (["typed", "text=x", "--json-args", "{}"], "by KEY=VALUE or by --json-args, not both"),
        (["typed", "text=x", "--revision", "banana"], f"banana; known: {ADAPTERS.versions[0]}"),
        (["typed", "text=x", "--header", "A:b"], "--header is for a server at an address"),
        (["typed", "text=x", "--transport", "sse"], "'sse' does not lead to"),
        (["register", "--accept", "--decline"], "--decline does not go with"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_allowed_and_nothing_is_called(
    run: Run, arguments: list[str], words: str
) -> None:
    ran = call(run, *arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert words in " ".join(ran.stderr.split())


def test_all_arguments_come_as_json_too(run: Run, tmp_path: pathlib.Path) -> None:
    text = '{"text": "x", "count": 2}'
    held = tmp_path / "arguments.json"
    held.write_text(text)
    for given, typed in ((text, None), (f"@{held}", None), ("-", text)):
        ran = call(run, "typed", "--json-args", given, text=typed)
        assert json.loads(ran.stdout)["count"] == 2, ran.stderr


# --- What is shown ---


def test_what_is_no_text_is_told_by_type_and_size_and_saved(run: Run, tmp_path: pathlib.Path) -> None:
    shown = call(run, "pictures").stdout
    assert shown == (
        f"two of them\n[image image/png, {len(PIXEL)} bytes]\n[audio audio/wav, {len(SOUND)} bytes]\n[link mem://text A text]\n"
    )
    ran = call(run, "pictures", "--output", str(tmp_path / "piece.bin"))
    assert (tmp_path / "piece.bin").read_bytes() == PIXEL
    assert (tmp_path / "piece-2.bin").read_bytes() == SOUND
    assert ran.stdout == "" and f"piece-2.bin: {len(SOUND)} bytes" in ran.stderr
    read = run("read", OFFERING, "mem://pixel", "--output", "-")
    assert read.stdout_bytes == PIXEL
    assert run("read", OFFERING, "mem://pixel").stdout == f"[image/png mem://pixel, {len(PIXEL)} bytes]\n"


def test_json_is_what_the_server_gave(run: Run, revision: str) -> None:
    ran = call(run, "typed", "text=x", "--json", "--revision", revision)
    given = json.loads(ran.stdout)
    assert json.loads(given["content"][0]["text"])["text"] == "x"


def test_only_data_goes_to_stdout(run: Run) -> None:
    ran = call(run, "noisy")
    assert ran.stdout == "\x1b[2Jclean\n"  # as it is, since this is no terminal
    assert "printed by a handler" in ran.stderr


def test_progress_and_logs_are_told_beside(run: Run, revision: str) -> None:
    ran = call(run, "steps", "--revision", revision, "--wire")
    assert ran.stdout == "stepped\n"
    assert "… 1/2" in ran.stderr
    if not ADAPTERS.by_version[revision].has_handshake:
        return  # there logs come only to requests that want them
    assert r"[error] steps: something \x1b[31mred" in ran.stderr


def test_a_tool_that_fails_and_an_error_end_with_1(run: Run) -> None:
    ran = run("call", "../../examples/small.py:registry", "find", "author=x")
    assert (ran.exit_code, ran.stdout) == (1, "there is no book of x; authors: austen, lem, woolf\n")
    ran = run("read", OFFERING, "mem://absent")
    assert (ran.exit_code, ran.stdout) == (1, "") and "no such resource" in ran.stderr


def test_lists_show_what_there_is(run: Run, revision: str) -> None:
    shown = run("list", OFFERING, "--revision", revision).stdout
    assert "  typed(text: string, count?: integer, share?: number, sure?: boolean" in shown
    templates = (
        "templates: none\n" if "resources/templates/list" in ADAPTERS.by_version[revision].client_requests else ""
    )
    assert (
        f"resources:\n  mem://text  A text.\n  mem://pixel  A picture.\n{templates}prompts:\n  greet(who, how?)"
        in shown
    )
    only = json.loads(run("list", OFFERING, "prompts", "--json", "--revision", revision).stdout)
    assert [prompt["name"] for prompt in only] == ["greet"]


def test_prompts_take_what_they_name(run: Run) -> None:
    assert run("prompt", OFFERING, "greet", "who=Ada", "how=Hi").stdout == "user: Hi Ada\n"
    for pairs, words in (
        ([], "greet needs who; it takes: who (required), how"),
        (["whom=x"], "'whom' is no argument of greet (is it 'who'?)"),
        (["who=a", "who=b"], "'who' is given twice"),
    ):
        ran = run("prompt", OFFERING, "greet", *pairs)
        assert ran.exit_code == 2 and words in " ".join(ran.stderr.split())


def test_what_passes_is_shown_without_secrets(run: Run, url: str, revision: str) -> None:
    headers = ("--header", "Authorization: Bearer hush-hush", "--header", "X-Mine: hush-hush")
    ran = run("call", url, "typed", "text=x", "--wire", "--revision", revision, *headers)
    assert json.loads(ran.stdout)["text"] == "x"
    assert f"→ POST {url}" in ran.stderr and "← 200" in ran.stderr and '"method": "tools/call"' in ran.stderr
    assert "Authorization: Bearer •••" in ran.stderr and "X-Mine: •••" in ran.stderr
    assert "hush-hush" not in ran.stderr
    header = ADAPTERS.by_version[revision].session_header
    assert header is None or f"{header.lower()}: •••" in ran.stderr.lower()
    assert "\x1b" not in ran.stderr  # no terminal, no colours


def test_state_that_travels_is_shown_by_nobody(run: Run, revision: str) -> None:
    ran = call(run, "register", "--wire", "--revision", revision, "--answer", "name=Ada", "--answer", "age=36")
    assert ran.stdout.startswith("Ada 36")
    states = re.findall(r'"(?:requestState|mcpState)\\*": \\*"([^"\\]*)', ran.stderr)
    assert set(states) <= {"•••"}
    adapter = ADAPTERS.by_version[revision]
    assert bool(states) == (adapter.can_ask or adapter.asks_in_arguments)


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_it_calls_over_either_transport_of_an_address(run: Run, url: str, transport: str) -> None:
    address = url if transport == "http" else url.replace("/mcp", "/sse")
    ran = run("call", address, "typed", "text=x", "--transport", transport)
    assert ran.exit_code == 0, ran.stderr


# --- Questions ---


@pytest.mark.parametrize(
    ("options", "gives"),
    [
        (["--answer", "name=Ada", "--answer", "age=36"], "Ada 36 green False None"),
        (
            ["--answer", "name=Ada", "--answer", "age:=36", "--answer", "color=red", "--answer", "member=true"],
            "Ada 36 red True None",
        ),
        (["--decline"], "decline"),
        (["--accept"], "cancel"),
        (["--answer", "name=Ada", "--answer", "age=many"], "cancel"),
        ([], "cancel"),
    ],
)
def test_questions_are_answered_as_was_said(run: Run, revision: str, options: list[str], gives: str) -> None:
    ran = call(run, "register", "--revision", revision, *options)
    assert ran.stdout == f"{gives}\n", ran.stderr
    assert "The server asks: Who is it?" in ran.stderr
    if not options:
        assert "nobody is at a terminal to answer; use --answer key=value, --accept or --decline" in ran.stderr


def test_an_address_is_shown_and_never_opened(run: Run) -> None:
    ran = call(run, "visit", "--accept")
    assert ran.stdout == "accept\n"
    assert "https://example.org/sign-in?x=1" in ran.stderr and "That is at example.org." in ran.stderr


# --- How they end ---


def test_who_is_not_there_ends_with_3(run: Run) -> None:
    ran = run("list", "http://127.0.0.1:9/mcp")
    assert (ran.exit_code, ran.stdout) == (3, "") and "127.0.0.1:9 cannot be reached" in ran.stderr


def test_an_address_without_a_server_ends_with_3(run: Run, url: str) -> None:
    ran = run("list", url.replace("/mcp", "/elsewhere"), "--transport", "http")
    assert ran.exit_code == 3, ran.stderr


def test_who_speaks_wrongly_ends_with_4(run: Run) -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Wrong(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": "banana"}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Wrong) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            ran = run("list", f"http://127.0.0.1:{server.server_port}/mcp", "--revision", ADAPTERS.versions[0])
        finally:
            server.shutdown()
            thread.join()
    assert ran.exit_code == 4, ran.stderr


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (
            "banana",
            "'banana' is none; write an address (http://… or https://…), MODULE:REGISTRY, or a command, in quotes",
        ),
        ("absent.py:registry", "there is no file absent.py"),
        ("'unclosed quote", "is no command: No closing quotation"),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_target_that_is_none_is_said_to_be_none(run: Run, command: str, target: str, words: str) -> None:
    more = {"call": ["x"], "read": ["x:y"], "prompt": ["x"]}.get(command, [])
    ran = run(command, target, *more)
    assert ran.exit_code == 2 and words in " ".join(ran.stderr.split())


def test_after_two_dashes_comes_a_command(run: Run, tmp_path: pathlib.Path) -> None:
    ran = run("list", "tools", "--")
    assert ran.exit_code == 2 and "after -- comes the command" in ran.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_says_what_a_target_is(run: Run, command: str) -> None:
    ran = run(command, "--help")
    assert ran.exit_code == 0
    assert "Examples:" in ran.stdout and "TARGET is the address of a server" in " ".join(ran.stdout.split())
    assert f"mcp-anyrev {command} " in ran.stdout.split("Examples:")[1]


def test_listening_shows_changes_as_they_are_told(run: Run, url: str, revision: str) -> None:
    command = [sys.executable, "-c", "from mcp_anyrev.cli.main import main; main()"]
    child = subprocess.Popen(
        [*command, "listen", url, "--revision", revision, "--tools", "--count", "1", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stderr is not None
    try:
        assert "listening to tools" in child.stderr.readline()
        end = time.monotonic() + 10
        while child.poll() is None and time.monotonic() < end:
            run("call", url, "grow")
        out, _ = child.communicate(timeout=10)
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()
    assert (child.returncode, json.loads(out)) == (0, {"of": "tools", "uri": None})


# --- Skills ---


def test_skills_are_listed_and_read(run: Run, revision: str) -> None:
    listed = run("skills", SKILLED, "--revision", revision)
    assert listed.exit_code == 0, listed.stderr
    assert listed.stdout.startswith("tea  How to make tea.  (") and listed.stdout.endswith("/tea/SKILL.md, 2 files)\n")
    told = json.loads(run("skills", SKILLED, "--json", "--revision", revision).stdout)
    assert [one["frontmatter"] for one in told] == [{"name": "tea", "description": "How to make tea."}]
    assert len(told[0]["files"]) == 2
    shown = run("skills", SKILLED, "tea", "--revision", revision)
    assert (shown.exit_code, shown.stdout.endswith("See water.md.\n")) == (0, True)
    for file in ("notes/water.md", told[0]["files"][1]["uri"], told[0]["files"][0]["uri"]):
        shown = run("skills", SKILLED, told[0]["uri"], file, "--revision", revision)
        assert shown.exit_code == 0 and ("Boil it." in shown.stdout) == ("water.md" in file.rpartition("/")[2])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["coffee"], "there is no skill 'coffee'; there are: tea"),
        (["tea", "milk.md"], "'tea' has no file 'milk.md'; it has: SKILL.md, notes/water.md"),
        (["tea", "../SKILL.md"], "has no file"),
    ],
)
def test_a_skill_or_file_that_is_not_there_is_a_usage_error(run: Run, arguments: list[str], words: str) -> None:
    ran = run("skills", SKILLED, *arguments)
    assert ran.exit_code == 2
    assert words in " ".join(ran.stderr.split())


# --- A server that is started ---

COMMAND = (sys.executable, "-m", "mcp_anyrev", "serve", OFFERING, "--transport", "stdio")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("call", "register", "--answer", "name=Ada", "--answer", "age=36"), "Ada 36 green False None\n"),
        (("list", "prompts"), "greet(who, how?)  Greeting\n"),
        (("read", "mem://text"), "line one\nline two\n"),
        (("prompt", "greet", "who=Ada"), "user: Hello Ada\n"),
        (("probe", "--revision", ADAPTERS.versions[0]), f"{ADAPTERS.versions[0]} over stdio: served by offering 1.0"),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else "",
)
def test_a_command_is_started_and_called(run: Run, arguments: tuple[str, ...], shown: str) -> None:
    """After two dashes, whatever options it has; what the server writes to stderr stays there."""
    ran = run(*arguments, "--", *COMMAND)
    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout.startswith(shown)


def test_a_command_in_quotes_works_as_well_and_what_passes_is_shown(run: Run) -> None:
    oldest = ADAPTERS.versions[-1]
    ran = run("call", shlex.join(COMMAND), "typed", "text=x", "--wire", "--revision", oldest)
    assert json.loads(ran.stdout)["text"] == "x"
    assert f'"protocolVersion": "{oldest}"' in ran.stderr and "→" in ran.stderr and "←" in ran.stderr


def test_a_started_server_gets_the_variables_that_it_is_given_and_no_others(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "hush")
    monkeypatch.setenv("SHOP_PLACE", "here")
    server = "import os, sys; sys.exit(' '.join(f'{k}={v}' for k, v in os.environ.items() if 'SHOP' in k))"
    ran = run("list", "--env", "SHOP_PLACE", "--env", "SHOP_NAME=a=b", "--", sys.executable, "-c", server)
    assert ran.exit_code == 3
    assert "SHOP_PLACE=here" in ran.stderr and "SHOP_NAME=a=b" in ran.stderr and "hush" not in ran.stderr
    for arguments, words in (
        (("--env", "SHOP_ABSENT", "--", "true"), "the NAME of a variable that there is, not 'SHOP_ABSENT'"),
        (("http://127.0.0.1:9/mcp", "--env", "A=b"), "--env is for a server that is started by a command"),
    ):
        ran = run("list", *arguments)
        assert ran.exit_code == 2 and words in " ".join(ran.stderr.split())


def test_a_command_that_is_none_or_ends_at_once_ends_with_3(run: Run) -> None:
    ran = run("list", "--", "no-such-program-there-is")
    assert ran.exit_code == 3 and "no-such-program-there-is cannot be started" in ran.stderr
    ran = run("list", "--", sys.executable, "-c", "import sys; sys.exit('no licence')")
    assert ran.exit_code == 3 and "exit code 1; its last words: no licence" in ran.stderr
