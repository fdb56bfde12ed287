"""What is installed is what is meant to be, and it works without the checkout."""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import re
import subprocess
import sys
import venv
import zipfile

import pytest

pytestmark = pytest.mark.long

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The wheel; of several processes that share the tests, whoever comes first builds it for all of them."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "wheel"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not any(folder.glob("*.whl")):
            subprocess.run(
                [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)],
                check=True,
            )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_four_packages_and_nothing_else(wheel: pathlib.Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"mcp_anyrev", "mcp_contract", "mcp_revisions", "revgen"}
    for package in tops:
        assert f"{package}/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_schema_that_each_spec_names_for_editors_is_there(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    specs = sorted((tmp_path / "revgen/inputs/specs").rglob("*.yaml"))
    named = [re.match(r"# yaml-language-server: \$schema=(\S+)\n", path.read_text("utf-8")) for path in specs]
    assert len(specs) > 5
    missing = [
        path.name
        for path, match in zip(specs, named, strict=True)
        if match is None or not (path.parent / match[1]).is_file()
    ]
    assert missing == []


def test_installed_alone_it_imports_serves_help_and_says_what_the_generator_needs(
    wheel: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    environment = tmp_path / "environment"
    venv.create(environment)
    pip = [sys.executable, "-m", "pip", "--python", str(environment), "--quiet", "--disable-pip-version-check"]
    # What is not imported here need not be compiled.
    subprocess.run([*pip, "install", "--no-compile", str(wheel)], check=True)

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [environment / "bin" / command[0], *command[1:]],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )

    program = (
        "import mcp_anyrev, mcp_revisions\n"
        "for version in mcp_revisions.VERSIONS:\n"
        "    mcp_revisions.AdapterSet.default().by_version[version].build()\n"
        "mcp_anyrev.asgi(mcp_anyrev.Registry('a', '1'))\n"
        "print(mcp_revisions.__file__)\n"
    )
    done = run("python", "-c", program)
    assert done.returncode == 0, done.stderr
    assert str(environment) in done.stdout
    assert run("mcp-anyrev", "--help").returncode == 0
    missing = run("revgen", "lint")
    assert missing.returncode == 2
    assert 'pip install "mcp-anyrev[generator]"' in missing.stderr


def test_what_only_shows_the_inputs_works_anywhere_with_those_of_the_wheel(
    wheel: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    installed, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    elsewhere.mkdir()
    zipfile.ZipFile(wheel).extractall(installed)

    old, new = re.findall(r'^  "(.+)":$', (ROOT / "specs/revisions.yaml").read_text("utf-8"), re.MULTILINE)[-2:]
    cases = (
        (("matrix",), new),
        (("matrix", "--format", "markdown"), new),
        (("matrix", "--format", "html"), new),
        (("diff", old, new), new),
        (("diff", old, new, "--format", "markdown"), new),
        (("diff", "--code", old, new), "ClassVar"),
        (("explain", "batching"), new),
        (("generate",), ""),
    )
    # What the generator needs comes from here, and the generator itself from the wheel; all in one process, which costs a start.
    program = (
        "import json, sys, click.testing, revgen.main\n"
        "run = lambda given: click.testing.CliRunner().invoke(revgen.main.revgen, given)\n"
        "results = [run(given) for given in json.loads(sys.argv[1])]\n"
        "print(json.dumps([revgen.main.__file__, [(one.exit_code, one.stdout, one.stderr) for one in results]]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps([arguments for arguments, _ in cases])],
        capture_output=True,
        text=True,
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )
    assert done.returncode == 0, done.stderr
    module, (*shown, refused) = json.loads(done.stdout)
    assert module.startswith(str(installed))
    for (arguments, said), (code, stdout, stderr) in zip(cases, shown, strict=False):
        assert (code, stderr) == (0, ""), arguments
        assert said in stdout
    assert refused[0] == 2
    assert "no folder from here upwards has specs/revisions.yaml" in refused[2]
    assert list(elsewhere.iterdir()) == []


def test_the_generator_counts_the_same_files_as_its_own_wherever_it_is_installed(
    wheel: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = (
        "import pathlib, sys\n"
        "from revgen.specification.inputs import read_inputs\n"
        "print(*sorted(read_inputs(pathlib.Path(sys.argv[1])).generator.items()), sep='\\n')\n"
    )
    counted = [
        subprocess.run(
            [sys.executable, "-c", program, str(ROOT)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(package)},
        ).stdout
        for package in (tmp_path, ROOT / "generator")
    ]
    assert counted[0] == counted[1]
    assert "generator/revgen/documents/revision.md.jinja" in counted[0]
