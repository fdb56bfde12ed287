"""What tells the branches of a union apart."""

from __future__ import annotations

from typing import Any

from revgen.projection.telling_apart import Test as Mark
from revgen.projection.telling_apart import tell_apart


def branch(*required: str, **members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(required)}


def test_a_constant_that_every_branch_has() -> None:
    branches = {"A": branch("type", type={"const": "a"}, text={}), "B": branch("type", type={"enum": ["b"]}, text={})}
    assert tell_apart(branches) == {"A": Mark("is", "type", "a"), "B": Mark("is", "type", "b")}


def test_one_branch_may_leave_the_constant_out() -> None:
    branches = {"Form": branch(mode={"const": "form"}), "Link": branch("mode", mode={"const": "url"})}
    assert tell_apart(branches) == {"Form": Mark("is or absent", "mode", "form"), "Link": Mark("is", "mode", "url")}


def test_two_branches_may_not() -> None:
    assert tell_apart({"Form": branch(mode={"const": "form"}), "Link": branch(mode={"const": "url"})}) is None


def test_a_required_member_that_no_other_branch_has() -> None:
    branches = {"Text": branch("uri", "text", uri={}, text={}), "Blob": branch("uri", "blob", uri={}, blob={})}
    assert tell_apart(branches) == {"Text": Mark("has", "text"), "Blob": Mark("has", "blob")}


def test_equal_constants_and_equal_members_tell_nothing() -> None:
    assert (
        tell_apart({"A": branch("type", type={"const": "a"}), "B": branch("type", type={"const": "a"}, more={})})
        is None
    )
