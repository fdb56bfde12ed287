"""A URL of a store gives nobody the credentials in it, and says what is wrong with it."""

from __future__ import annotations

import pytest
from mcp_anyrev import Settings
from mcp_anyrev.storage.backends import SCHEMES, backend, known_url
from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.protocols import Hub, SessionStore
from mcp_anyrev.storage.urls import StorageUrl
from pydantic import ValidationError


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("redis://host:6379/1", "redis://host:6379/1"),
        ("REDIS://user:s3cret@host:6379/1", "redis://***@host:6379/1"),
        ("postgres://user:s3cret%40@host/name?sslmode=require", "postgres://***@host/name"),
        ("redis://host?password=s3cret", "redis://host"),
        ("redis://host#s3cret", "redis://host"),
        ("sqlite:///var/lib/x.db", "sqlite:///var/lib/x.db"),
        ("unix:///run/valkey.sock?db=1&password=s3cret", "unix:///run/valkey.sock"),
        ("redis://:s3c@ret@host", "redis://***@host"),
        ("redis://:s3/cret@host", "redis://***@host"),
        ("redis://:s3?cret@host", "redis://***"),
        ("redis://:s3#cret@host", "redis://***"),
        ("redis://host?password=cret@s3cret", "redis://***"),
        ("redis://[s3cret@host", "redis://***@host"),
        ("memory:", "memory:"),
    ],
)
def test_what_is_shown_of_a_url_has_no_credentials(text: str, shown: str) -> None:
    url = StorageUrl(text)
    assert url.shown == shown and shown in repr(url) and url.text == text
    assert "cret" not in f"{url!r} {url}"


def test_what_others_say_of_it_has_none_either() -> None:
    url = StorageUrl("postgres://user:s3%40cret@host/name?sslpassword=tell-nobody&port=5432")
    said = url.hide(f"{url.text}: s3@cret is wrong, so is s3%40cret, and tell-nobody, on host:5432")
    assert said == "postgres://***@host/name: *** is wrong, so is ***, and ***, on host:5432"


@pytest.mark.parametrize("member", ["store", "hub"])
@pytest.mark.parametrize("text", ["s3cret", "", "//u:s3cret@host", "nosuch://u:s3cret@host", "://s3cret", "a b:s3cret"])
def test_a_store_that_nothing_is_for_is_refused_where_it_is_set(member: str, text: str) -> None:
    with pytest.raises(ValidationError) as told:
        Settings(**{member: text})  # type: ignore[arg-type]
    assert "s3cret" not in str(told.value)
    assert member in str(told.value) and ("scheme" in str(told.value))
    if text.startswith("nosuch"):
        assert all(f"{scheme}:" in str(told.value) for scheme in SCHEMES)


def test_settings_do_not_show_where_it_is() -> None:
    assert "memory:" not in f"{Settings(store='memory:')} {Settings(hub='memory:')!r}"


def test_memory_has_a_url_too() -> None:
    made = backend(known_url("memory:"), "any name", StoreBounds(), HubBounds())
    assert isinstance(made.store, SessionStore) and isinstance(made.hub, Hub) and made.fault is None
