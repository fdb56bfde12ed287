"""What cannot work is refused where it is made, in words that name it, and secrets are in none of them."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from mcp_anyrev import Limits, Settings

SECRET = b"0123456789abcdef"


@pytest.mark.parametrize(
    ("member", "wrong"),
    [
        ("revisions", "one"),
        ("revisions", []),
        ("revisions", ["none such"]),
        ("store", "nosuch://localhost"),
        ("store", object()),
        ("hub", "localhost"),
        ("hub", object()),
        ("keys", SECRET),
        ("keys", SECRET.decode()),
        ("keys", [SECRET.decode()]),
        ("keys", [SECRET, SECRET[1:]]),
        ("ask_timeout_seconds", 0),
        ("state_ttl_seconds", -1),
        ("session_ttl_seconds", float("nan")),
        ("head_delay_seconds", -0.1),
        ("keep_alive_seconds", float("inf")),
        ("retry_seconds", "1"),
        ("kept_seconds", 0),
        ("shutdown_seconds", -2),
        ("listen", "no"),
        ("allowed_hosts", "localhost"),
        ("allowed_hosts", ["https://shop.example"]),
        ("allowed_hosts", ["shop.example/mcp"]),
        ("allowed_hosts", ["shop.example:port"]),
        ("allowed_hosts", [""]),
        ("allowed_origins", "https://shop.example"),
        ("allowed_origins", ["https://shop.example/"]),
        ("allowed_origins", ["https://"]),
        ("announce", "tools"),
        ("announce", ["tool"]),
        ("page_size", 0),
        ("page_size", True),
        ("limits", {}),
        ("principal", "ada"),
        ("protected_resource", "https://shop.example"),
        ("timeout", 3),
    ],
)
def test_settings_that_cannot_work_are_refused(member: str, wrong: Any) -> None:
    with pytest.raises(ValueError, match=rf"1 validation error for Settings\n{member}\b"):
        Settings(**{member: wrong})


@pytest.mark.parametrize("member", [member.name for member in dataclasses.fields(Limits)])
@pytest.mark.parametrize("wrong", [0, -1, "1", True, float("nan"), None])
def test_limits_that_limit_nothing_are_refused(member: str, wrong: Any) -> None:
    if member == "calls_per_minute" and wrong is None:
        assert Limits(calls_per_minute=None).calls_per_minute is None, "the one that can be turned off"
        return
    with pytest.raises(ValueError, match=rf"1 validation error for Limits\n{member}\n"):
        Limits(**{member: wrong})


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ValueError, match="3 validation errors") as refused:
        Settings(page_size=0, announce=("tool", "tools"), retry_seconds=-1)  # type: ignore[arg-type]  # what this tests
    assert all(word in str(refused.value) for word in ("page_size", "announce.0", "retry_seconds", "'updates'"))


@pytest.mark.parametrize(
    "right",
    [
        {"allowed_hosts": ["*", "shop.example", "shop.example:8080", "[::1]", "[2001:db8::1]:443", "bücher.example"]},
        {"allowed_origins": ("*", "null", "app.example", "https://app.example", "http://[::1]:3000", "vscode://ext")},
        {"keys": [SECRET, SECRET * 2]},
        {"head_delay_seconds": 0, "shutdown_seconds": 0, "retry_seconds": 0, "kept_seconds": 1},
        {"announce": ()},
    ],
)
def test_settings_that_can_work_are_taken(right: dict[str, Any]) -> None:
    made = Settings(**right)
    assert {member: getattr(made, member) for member in right} == right
    assert dataclasses.replace(made, page_size=3).page_size == 3


def test_settings_cannot_be_changed_and_show_no_secret() -> None:
    settings = Settings(keys=[SECRET])
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.page_size = 3  # type: ignore[misc]
    assert SECRET.decode() not in repr(settings)
    for wrong in (SECRET, [SECRET.decode()], [SECRET[1:]]):
        with pytest.raises(ValueError, match="keys") as refused:
            Settings(keys=wrong)  # type: ignore[arg-type]
        assert not re.search(r"123456789", str(refused.value))
