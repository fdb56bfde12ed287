"""Templates of addresses, read backwards. Citations: server/resources#resource-templates."""

from __future__ import annotations

import time
from typing import Any

import pytest
from mcp_anyrev.declaring.uri_templates import BadTemplate, UriTemplate
from mcp_contract.wording import LONGEST_ADDRESS


@pytest.mark.parametrize(
    ("template", "address", "values"),
    [
        ("mx://item/{id}", "mx://item/7", {"id": "7"}),
        ("mx://item/{id}", "mx://item/a%20b%2Fc", {"id": "a b/c"}),
        ("mx://item/{id}", "mx://item/%252F", {"id": "%2F"}),
        ("mx://item/{id}", "mx://item/%E6%97%A5", {"id": "日"}),
        ("mx://item/{id}", "mx://item/7\n", None),
        ("mx://item/{id}", "mx://item/", None),
        ("mx://item/{id}", "mx://item/a/b", None),
        ("mx://item/{id}", "mx://item/a?b", None),
        ("mx://item/{id}", "mx://item/%ff", None),
        ("mx://item/{id}", "xmx://item/7", None),
        ("mx://item/{id}", f"mx://item/{'7' * LONGEST_ADDRESS}", None),
        ("f:///{name}.{ext}", "f:///a.tar.gz", {"name": "a", "ext": "tar.gz"}),
        ("f:///{a,b*}", "f:///1,2,3%2C4", {"a": "1", "b": ["2", "3,4"]}),
        ("f:///{+path}", "f:///a/b.txt", {"path": "a/b.txt"}),
        ("f:///{+path}.json{?v}", "f:///a.b/c.json?v=2", {"path": "a.b/c", "v": "2"}),
        ("f:///{+path}", "f:///a\n", None),
        ("f://h{/a,b}", "f://h/x/y", {"a": "x", "b": "y"}),
        ("f://h{/a,b}", "f://h/x", None),
        ("f://{host}{/steps*}", "f://h", {"host": "h", "steps": []}),
        ("f://{host}{/steps*}", "f://h/a/b%2Fc", {"host": "h", "steps": ["a", "b/c"]}),
        ("f://{host}{/steps*}", "f://h/a/", None),
        ("q://s{?q,n*}", "q://s", {}),
        ("q://s{?q,n*}", "q://s?n=1&q=a%26b+c&n=2", {"q": "a&b+c", "n": ["1", "2"]}),
        ("q://s{?q,n*}", "q://s?q=1&q=2", None),
        ("q://s{?q,n*}", "q://s?z=1", None),
        ("q://s{?q,n*}", "q://s?q", None),
    ],
)
def test_an_address_gives_its_values_or_is_none_of_the_template(template: str, address: str, values: Any) -> None:
    assert UriTemplate(template).match(address) == values


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("mx://{", "it has no variable"),
        ("mx://{a}}", "a brace is open"),
        ("mx://{}", "'' is no variable"),
        ("mx://{a b}", "'a b' is no variable"),
        ("mx://{a:3}", "'a:3' is no variable"),
        ("mx://{#a}", "'#a' is no variable"),
        ("mx://{a}{b}", "nothing stands between a and what follows"),
        ("mx://{a}-{a}", "the variable a stands in it twice"),
        ("mx://{+a}/{+b}", "where a ends and b begins can be read in more than one way"),
        ("mx://{/a*}{/b*}", "where a ends and b begins can be read in more than one way"),
        ("mx://{+a*}", "a value with reserved characters stands alone"),
        ("mx://{a*,b}", "only the last variable of an expression can be a list"),
        ("mx://{?a}/b", "nothing can follow a query"),
    ],
)
def test_a_template_without_one_reading_is_refused(template: str, words: str) -> None:
    with pytest.raises(BadTemplate) as caught:
        UriTemplate(template)
    assert words in str(caught.value)


@pytest.mark.parametrize("piece", ["-", "-a.b", ".json", "/", ",a", "--a", "/a,b"])
@pytest.mark.parametrize(
    "template",
    [
        "f:///{+r}-{a}.{b}/x",
        "f:///{+r}-{a,b*}!",
        "f:///{+r}{/a,b,c}!",
        "f:///{+r}--{a}--{b}--x",
        "f:///{a}-{b}-{c}/{+r}.json",
        "f://{h}{/s*}/x-{b}",
        "f://h{/s*}-{a}-{b}!",
    ],
)
def test_no_address_takes_long(template: str, piece: str) -> None:
    made = UriTemplate(template)
    address = "f:///" + piece * (LONGEST_ADDRESS // len(piece) - 5)
    started = time.process_time()
    for _ in range(10):
        made.match(address)
    assert time.process_time() - started < 0.06  # a machine of half the speed, and still a third of trying every place


@pytest.mark.parametrize(
    ("template", "address", "values"),
    [
        ("f:///{+r}-{a}.{b}", "f:///x-y.z-w", {"r": "x", "a": "y", "b": "z-w"}),
        ("f:///{+r}--{a}", "f:///x---y", {"r": "x-", "a": "y"}),
        ("f:///{+r}--{a}", "f:///--y", None),
        ("f:///{+r}/{a*}", "f:///x/y,z", {"r": "x", "a": ["y", "z"]}),
        ("f:///{+r}{/a,b}", "f:///v/w/x/y", {"r": "v/w", "a": "x", "b": "y"}),
        ("f:///{+r}.{a}{?q}", "f:///x.y.z?q=1", {"r": "x.y", "a": "z", "q": "1"}),
        ("f:///{h}/{+r}/{a}", "f:///1/2/3/4", {"h": "1", "r": "2/3", "a": "4"}),
        ("f:///{+r}/{a}", "f:///x y/z", None),
    ],
)
def test_a_value_with_reserved_characters_goes_as_far_as_it_can(template: str, address: str, values: Any) -> None:
    assert UriTemplate(template).match(address) == values
