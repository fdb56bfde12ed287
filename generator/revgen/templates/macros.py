"""Templates: the Jinja environment of `templates/`, what a macro may be, and how its body is obtained.

Rule: a macro is the text of one choice and sees nothing but its arguments, never the revision. Which macro is called is decided by an
answer's name; that the names fit is checked here before anything is rendered.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import pathlib
import re

import jinja2
import jinja2.meta
from jinja2 import nodes

from ..inventory.concerns import Area, Concern
from ..reading.literals import Value
from ..reading.located import Place, Problems
from ..reading.models import without_meant
from .method_bodies import fault_of_body
from .used_names import Names, undefined_in_body, undefined_in_signature
from .wrapping import wrapped

FOLDER = "templates"
CONCERNS = "concerns"
SUFFIX = ".py.jinja"
SUFFIXES = (".jinja", ".jinja2")
LINE_LENGTH = 120
LONGEST_BODY = 24

# Jinja hands these to a macro that mentions them, although nobody declared them.
_IMPLICIT_NAMES = ("varargs", "kwargs", "caller", "self")
_READING_NODES = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


@functools.lru_cache(maxsize=2)
def make_environment(root: pathlib.Path) -> jinja2.Environment:
    """The environment of every template under `templates/`: unknown names fail, blocks leave no blank lines, nothing is escaped.

    There is one for each root, since to compile a template takes longer than to render it; a file that has changed is read again.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(root / FOLDER),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    # Jinja's own globals would be something that a macro can read without being given it.
    environment.globals.clear()
    environment.filters["docstring"] = docstring
    environment.filters["python"] = repr
    return environment


def concern_template(concern: Concern) -> str:
    """The name of a concern's template, relative to the templates' folder."""
    return f"{CONCERNS}/{concern.area}/{concern.name}{SUFFIX}"


def render_body(environment: jinja2.Environment, concern: Concern, choice: str, arguments: dict[str, Value]) -> str:
    """The body of a concern's method for one choice, unindented and without blank lines around it.

    Args:
        environment: from `make_environment`.
        concern: a choice.
        choice: one of its choices, whose macro is called.
        arguments: a value for each parameter of the concern.

    Raises:
        jinja2.TemplateError: the macro does not exist or does what its arguments do not bear.
    """
    macro = getattr(environment.get_template(concern_template(concern)).module, choice)
    return str(macro(**arguments)).strip("\n").rstrip()


def docstring(paragraphs: str | collections.abc.Iterable[str], indent: int = 4) -> str:
    """Text as a docstring literal that fits the line; each paragraph starts a line, and an empty one makes a blank line.

    Args:
        paragraphs: one text or several.
        indent: how many blanks the docstring will stand behind; its later lines get them here.
    """
    texts = [paragraphs] if isinstance(paragraphs, str) else list(paragraphs)
    escaped = (" ".join(text.split()).replace("\\", "\\\\").replace('"""', '\\"\\"\\"') for text in texts)
    # The quotes need room as well: three before the first line, and three behind the only one.
    width = LINE_LENGTH - indent - 6
    first, *rest = [line for text in escaped for line in wrapped(text, width) or [""]] or [""]
    if rest:
        margin = " " * indent
        return "\n".join([f'"""{first}', *(f"{margin}{line}" if line else "" for line in rest), f'{margin}"""'])
    # A quote right before the closing ones would end the literal too early.
    return f'"""{first}{" " if first.endswith(chr(34)) else ""}"""'


def check_templates(
    root: pathlib.Path,
    areas: collections.abc.Sequence[Area],
    environment: jinja2.Environment,
    names: Names,
    problems: Problems,
) -> None:
    """Compare the macros with the choices of the inventory, both ways, and see that every skeleton is a template.

    Args:
        root: the folder that holds `templates/`.
        areas: the inventory, without problems of its own.
        environment: from `make_environment`.
        names: what the code of a choice may use.
        problems: receives what does not fit, at the place in the template, or in the inventory where no template is.
    """
    expected = {
        f"{FOLDER}/{concern_template(concern)}": concern
        for area in areas
        for concern in area.concerns
        if concern.kind == "choice"
    }
    folder = root / FOLDER / CONCERNS
    # Other files are no templates, which is said elsewhere.
    present = {path.relative_to(root).as_posix() for path in folder.rglob("*.jinja*") if path.suffix in SUFFIXES}
    for path in sorted(present - expected.keys()):
        problems.add(Place(path, 1, 1), _why_unused(path, areas))
    for path, concern in expected.items():
        if path not in present:
            problems.add(concern.place, f"choice '{concern.name}' has no template; expected: {path}")
        elif (source := _read(root, path, problems)) is not None:
            _TemplateCheck(path, concern, environment, names, problems).run(source)
    for file in sorted((root / FOLDER).glob("*.jinja")):
        path = f"{FOLDER}/{file.name}"
        if (source := _read(root, path, problems)) is not None:
            _parse(path, source, environment, problems)


def _read(root: pathlib.Path, path: str, problems: Problems) -> str | None:
    try:
        return (root / path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problems.add(Place(path, 1, 1), f"cannot be read: {error.__class__.__name__}")
        return None


def _parse(path: str, source: str, environment: jinja2.Environment, problems: Problems) -> nodes.Template | None:
    try:
        return environment.parse(source)
    except jinja2.TemplateSyntaxError as error:
        problems.add(Place(path, error.lineno, 1), f"not a template: {error.message}")
        return None


def _why_unused(path: str, areas: collections.abc.Iterable[Area]) -> str:
    names = {concern.name: concern for area in areas for concern in area.concerns}
    concern = names.get(path.rpartition("/")[2].removesuffix(SUFFIX))
    if concern is None:
        return "template of no concern; allowed: templates/concerns/<area>/<concern>.py.jinja of a choice"
    if concern.kind != "choice":
        return f"template of '{concern.name}', which is a {concern.kind}; only a choice has a template"
    return f"template of '{concern.name}' in the wrong place; expected: {FOLDER}/{concern_template(concern)}"


@dataclasses.dataclass(frozen=True)
class _TemplateCheck:
    """Checks the template of one concern."""

    path: str
    concern: Concern
    environment: jinja2.Environment
    names: Names
    problems: Problems

    def run(self, source: str) -> None:
        template = _parse(self.path, source, self.environment, self.problems)
        if template is None:
            return
        already = len(self.problems.found)
        for missing in undefined_in_signature(self.concern.signature, self.names):
            self._complain(self.concern.place_of("signature"), f"the signature of '{self.concern.name}' uses {missing}")
        lines = source.splitlines()
        macros: dict[str, nodes.Macro] = {}
        for node in template.body:
            if isinstance(node, nodes.Macro):
                if node.name in macros:
                    self._complain(self._place(node, lines), f"macro '{node.name}' is defined twice")
                macros[node.name] = node
                self._check_macro(node, lines)
            elif line := _first_line(node):
                self._complain(Place(self.path, line, 1), "only macros and comments may stand outside of a macro")
        lacking = [choice for choice in self.concern.choice_places if choice not in macros]
        for choice, place in self.concern.choice_places.items():
            if choice in without_meant(lacking, macros, self.concern.choices):
                self._complain(place, f"choice '{choice}' of '{self.concern.name}' has no macro in {self.path}")
        if len(self.problems.found) == already:
            self._check_bodies(macros, lines)

    def _check_macro(self, macro: nodes.Macro, lines: collections.abc.Sequence[str]) -> None:
        place = self._place(macro, lines)
        if macro.name not in self.concern.choices:
            choices = ", ".join(self.concern.choices)
            self._complain(place, f"macro '{macro.name}' is not a choice of '{self.concern.name}'; choices: {choices}")
        arguments = [argument.name for argument in macro.args]
        if arguments != list(self.concern.parameters) or macro.defaults:
            taken = ", ".join(arguments) + (" with defaults" if macro.defaults else "")
            expected = ", ".join(self.concern.parameters) or "none"
            self._complain(place, f"macro '{macro.name}' takes {taken or 'nothing'}; parameters: {expected}")
        try:
            reads = jinja2.meta.find_undeclared_variables(_alone(macro, self.environment))
        except jinja2.TemplateAssertionError as error:
            # A filter or a test that there is not.
            self._complain(Place(self.path, error.lineno, 1), f"not a template: {error.message}")
            return
        reads -= {macro.name}
        reads |= {name.name for name in macro.find_all(nodes.Name) if name.name in (*_IMPLICIT_NAMES, macro.name)}
        reads -= set(arguments)
        if reads:
            names = ", ".join(f"'{name}'" for name in sorted(reads))
            self._complain(place, f"macro '{macro.name}' reads {names}; allowed: its arguments")
        for node in macro.find_all(_READING_NODES):
            self._complain(Place(self.path, node.lineno, 1), f"macro '{macro.name}' reads another template")

    def _check_bodies(self, macros: dict[str, nodes.Macro], lines: collections.abc.Sequence[str]) -> None:
        """Render what the answers ask for: a body must be Python, and short enough to be read as one thing."""
        missing_in: dict[str, list[str]] = {}
        for answer in self.concern.answers.values():
            place = self._place(macros[answer.choice], lines)
            try:
                body = render_body(self.environment, self.concern, answer.choice, answer.arguments)
            except Exception as error:  # whatever an expression of a template may raise
                self._complain(place, f"macro '{answer.choice}' fails: {error}")
                continue
            if len(body.splitlines()) > LONGEST_BODY:
                self._complain(
                    place,
                    f"the body of macro '{answer.choice}' has {len(body.splitlines())} lines; "
                    f"allowed: {LONGEST_BODY}, and what is longer belongs in the runtime",
                )
            if fault := fault_of_body(self.concern.signature, body):
                self._complain(place, f"the body of macro '{answer.choice}' is not the body of a method: {fault}")
                continue
            for missing in undefined_in_body(self.concern.signature, body, self.names):
                users = missing_in.setdefault(missing, [])
                users += [answer.choice] if answer.choice not in users else []
        for missing, users in missing_in.items():
            # What a parameter was called before is one mistake, however many macros use it.
            using = f"macro '{users[0]}' uses" if len(users) == 1 else f"the macros {', '.join(users)} use"
            self._complain(self._place(macros[users[0]], lines), f"{using} {missing}")

    def _place(self, macro: nodes.Macro, lines: collections.abc.Sequence[str]) -> Place:
        """Where a macro's name stands. Jinja knows the line alone."""
        line = lines[macro.lineno - 1] if macro.lineno <= len(lines) else ""
        match = re.search(rf"\bmacro\s+({re.escape(macro.name)})\b", line)
        return Place(self.path, macro.lineno, match.start(1) + 1 if match else 1)

    def _complain(self, place: Place, message: str) -> None:
        # Several revisions may give the same answer, and each fault is to be read once.
        if not any(problem.place == place and problem.message == message for problem in self.problems.found):
            self.problems.add(place, message)


def _first_line(node: nodes.Node) -> int:
    """The line where a node begins to say something; 0 where it is nothing but white space."""
    if not isinstance(node, nodes.Output):
        return node.lineno
    for part in node.nodes:
        if not isinstance(part, nodes.TemplateData):
            return part.lineno
        if text := part.data.lstrip():
            return part.lineno + part.data[: -len(text)].count("\n")
    return 0


def _alone(macro: nodes.Macro, environment: jinja2.Environment) -> nodes.Template:
    """A template of this macro alone, so that whatever else its file defines is unknown to it."""
    template = nodes.Template([macro], lineno=1)
    template.set_environment(environment)
    return template
