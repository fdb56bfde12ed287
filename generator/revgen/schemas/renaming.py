"""Which type of a later schema is likely an older one under another name.

Rule: that two types are alike is no reason by itself, since many are: an envelope is like any other. There has to be one besides: the
name, the place, or that nothing else is as alike.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from .outlines import Outlines

_ALIKE = 0.75
_SOUND_ALIKE = 0.6
_FEW = 2
"""So much in common is no chance, if nothing else has as much."""
_SHAPE = "shape"


def likely_names(before: Outlines, after: Outlines, old: str, candidates: Iterable[str]) -> dict[str, str]:
    """What a type may be called later, the likeliest first, each with what speaks for it; nothing where nothing does.

    Args:
        before, after: the two schemas.
        old: a type of the first.
        candidates: types of the second that came since.
    """
    near = {}
    for new in candidates:
        score = _likeness(before.parts(old), after.parts(new))
        if score >= _ALIKE and (reason := _reason(before, after, old, new, score)):
            near[reason != _SHAPE, score, difflib.SequenceMatcher(None, old, new).ratio(), new] = reason
    return {key[-1]: near[key] for key in sorted(near, reverse=True)}


def _reason(before: Outlines, after: Outlines, old: str, new: str, score: float) -> str:
    """What speaks for it besides the likeness; empty where nothing does."""
    if _sound_alike(old, new):
        return "name and shape"
    if before.places(old) & after.places(new):
        return "place and shape"
    if len(before.parts(old).keys() & after.parts(new).keys()) < _FEW:
        return ""
    others = [_likeness(before.parts(other), after.parts(new)) for other in _types(before) if other != old]
    others += [_likeness(before.parts(old), after.parts(other)) for other in _types(after) if other != new]
    return _SHAPE if max(others, default=0.0) < score else ""


def _types(outlines: Outlines) -> frozenset[str]:
    return outlines.named & outlines.definitions.keys()


def _likeness(old: Mapping[str, str], new: Mapping[str, str]) -> float:
    """The share that two types have in common: the name of a member counts twice, its shape once; constants tell types apart."""
    both = old.keys() & new.keys()
    if not both or any(old[part].startswith("=") and old[part] != new[part] for part in both):
        return 0.0
    return sum(2 + (old[part] == new[part]) for part in both) / (3 * len({*old, *new}))


def _sound_alike(old: str, new: str) -> bool:
    """Whether two names have most of their letters in common, not counting the words at their end that say what sort of type it is."""
    ours, theirs = (re.findall(r"[A-Z]+[a-z\d]*|[a-z\d]+|\W+|_", name) for name in (old, new))
    while ours and theirs and ours[-1] == theirs[-1]:
        ours.pop()
        theirs.pop()
    if set(ours) <= set(theirs) or set(theirs) <= set(ours):
        return True
    return difflib.SequenceMatcher(None, "".join(ours), "".join(theirs)).ratio() >= _SOUND_ALIKE
