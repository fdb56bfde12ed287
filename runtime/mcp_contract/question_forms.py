"""Forms in the older way: names of choices in a list beside the values.

Rule: what the person sees and what the answer may be stay the same; what the older way cannot say is refused, not left out.
"""

from __future__ import annotations

from mcp_contract.errors import CannotAsk
from mcp_contract.messages import JsonObject


def with_names_beside_values(form: JsonObject) -> JsonObject:
    """A form that a client of the older way can show.

    Args:
        form: an object schema whose members are primitive; left as it is.

    Returns:
        The form without a dialect; titled choices (`oneOf` of constants) have their titles in `enumNames`, and a default stands
        only on a boolean, where the older way has one.

    Raises:
        CannotAsk: a member takes several choices at once.
    """
    members = {name: _member(name, member) for name, member in form.get("properties", {}).items()}
    return {name: value for name, value in form.items() if name != "$schema"} | {"properties": members}


def _member(name: str, member: JsonObject) -> JsonObject:
    if member.get("type") == "array":
        raise CannotAsk(f"the form's member {name!r} takes several choices at once, which this revision cannot ask for")
    if "oneOf" in member:
        choices = member["oneOf"]
        member = {key: value for key, value in member.items() if key != "oneOf"} | {
            "enum": [choice["const"] for choice in choices],
            "enumNames": [choice["title"] for choice in choices],
        }
    if member.get("type") != "boolean":
        member = {key: value for key, value in member.items() if key != "default"}
    return member
