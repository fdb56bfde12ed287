"""Names the functions of a projection: after the canonical type, and one name for what does the same.

Rule: the same walk gives the same names. A type that a revision has in several forms takes its own name for the form that the
revision gives that name, or the first; the others are named after the place where the revision has them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ..schemas.methods import Root
from ..schemas.shapes import snake_case
from .plan import Call, ObjectFunction, Projection, Step, UnionFunction
from .walk import Walk


def named(walk: Walk, calls: Mapping[Root, Call | None]) -> Projection:
    """Give every function of a finished walk its name.

    Args:
        walk: with all of its roots behind it.
        calls: what is called for each root.
    """
    names = _names(walk)
    called = {
        key: name + "_parts" if key in walk.unions and walk.unions[key].many else name for key, name in names.items()
    }
    objects = {
        names[key]: dataclasses.replace(
            function,
            name=names[key],
            steps=tuple(_renamed(step, called) for step in function.steps),
            spread=None if function.spread is None else _renamed(function.spread, called),
        )
        for key, function in sorted(walk.objects.items())
    }
    unions = {
        names[key]: dataclasses.replace(
            function,
            name=names[key],
            cases=tuple(dataclasses.replace(case, call=case.call.renamed(called)) for case in function.cases),
        )
        for key, function in sorted(walk.unions.items())
    }
    return Projection(
        objects=tuple(objects[name] for name in sorted(objects)),
        unions=tuple(unions[name] for name in sorted(unions)),
        calls={root: None if call is None else call.renamed(called).function or None for root, call in calls.items()},
        used=frozenset(walk.used),
        complaints=tuple(sorted(set(walk.complaints))),
    )


def _renamed(step: Step, names: Mapping[str, str]) -> Step:
    return dataclasses.replace(step, call=step.call.renamed(names))


def _names(walk: Walk) -> dict[str, str]:
    functions: dict[str, ObjectFunction | UnionFunction] = {**walk.objects, **walk.unions}
    classes = {key: function.type_name for key, function in functions.items()}
    while True:
        # Same type and same data, with what they call taken for the same as far as is known: refined until nothing splits.
        finer = {key: repr(_anonymous(function, classes)) for key, function in functions.items()}
        if len(set(finer.values())) == len(set(classes.values())):
            break
        classes = finer
    names: dict[str, str] = {}
    taken: dict[str, str] = {}
    # The definition that bears the type's own name comes first.
    for key in sorted(functions, key=lambda key: (walk.labels[key] != functions[key].type_name, key)):
        name = "_" + snake_case(functions[key].type_name)
        if taken.setdefault(name, finer[key]) != finer[key]:
            own = name = "_" + snake_case(walk.labels[key])
            number = 2
            while taken.setdefault(name, finer[key]) != finer[key]:
                name = f"{own}_{number}"
                number += 1
        names[key] = name
    return names


def _anonymous(function: ObjectFunction | UnionFunction, classes: Mapping[str, str]) -> Any:
    if isinstance(function, UnionFunction):
        cases = tuple(dataclasses.replace(case, call=case.call.renamed(classes)) for case in function.cases)
        return dataclasses.replace(function, name="", cases=cases)
    steps = tuple(_renamed(step, classes) for step in function.steps)
    spread = None if function.spread is None else _renamed(function.spread, classes)
    return dataclasses.replace(function, name="", steps=steps, spread=spread)
