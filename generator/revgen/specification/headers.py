"""Names of headers: what is none, and what HTTP itself has for something else.

Rule: a revision may name what it brings. A header that HTTP, or what stands between two peers, gives another meaning would be read, changed
or dropped on the way.
Specification: RFC 9110, RFC 9111, RFC 9112, and what else the IANA registry of field names calls permanent and servers meet
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_STANDARD = frozenset(
    """
    accept accept-charset accept-encoding accept-language accept-patch accept-post accept-ranges access-control-allow-credentials
    access-control-allow-headers access-control-allow-methods access-control-allow-origin access-control-expose-headers
    access-control-max-age access-control-request-headers access-control-request-method age allow alt-svc authentication-info
    authorization cache-control clear-site-data close connection content-digest content-disposition content-encoding content-language
    content-length content-location content-range content-security-policy content-type cookie cross-origin-embedder-policy
    cross-origin-opener-policy cross-origin-resource-policy date early-data etag expect expires forwarded from host if-match
    if-modified-since if-none-match if-range if-unmodified-since keep-alive last-modified link location max-forwards origin pragma
    prefer preference-applied priority proxy-authenticate proxy-authentication-info proxy-authorization proxy-connection range referer
    referrer-policy refresh repr-digest retry-after sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user server server-timing
    set-cookie strict-transport-security te timing-allow-origin trailer transfer-encoding upgrade upgrade-insecure-requests user-agent
    vary via want-content-digest want-repr-digest warning www-authenticate x-content-type-options x-forwarded-for x-forwarded-host
    x-forwarded-proto x-frame-options x-real-ip x-request-id
    """.split()  # noqa: SIM905  # a word a line would be a page
)


def fault_of_header(name: str) -> str:
    """What is wrong with the name of a header, or with the beginning of names, which ends with a hyphen; empty where nothing is."""
    if not _TOKEN.fullmatch(name):
        return f"'{name}' is no name of a header; allowed: letters, digits, '-' and the like"
    taken = sorted(
        one for one in _STANDARD if one == name.lower() or (name.endswith("-") and one.startswith(name.lower()))
    )
    if taken:
        return f"'{name}' is a header of HTTP's own, as '{taken[0]}' is; allowed: a name that HTTP has no meaning for"
    return ""


def fault_of_status(value: object) -> str:
    """What is wrong with a status of HTTP that ends a request; empty where nothing is."""
    if isinstance(value, int) and not 200 <= value <= 599:
        return f"{value} is no status that a request can end with; allowed: 200 to 599"
    return ""
