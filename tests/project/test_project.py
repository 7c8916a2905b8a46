"""What the files around the code say of it: version, Pythons, scripts, links."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import softmodes

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
DECLARED = [
    "3." + classifier.rsplit(".", 1)[1]
    for classifier in PROJECT["project"]["classifiers"]
    if classifier.startswith("Programming Language :: Python :: 3.")
]


def read(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def read_yaml(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text("utf-8"))


def steps_of(workflow: Any) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_the_version_stands_in_one_place():
    stated = re.findall(r'^__version__ = "(.+)"$', read("src/softmodes/__init__.py"), re.MULTILINE)
    assert stated == [softmodes.__version__]
    assert "version" in PROJECT["project"]["dynamic"]
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["scikit-build"]["metadata"]["version"] == {
        "provider": "scikit_build_core.metadata.regex",
        "input": "src/softmodes/__init__.py",
    }
    assert "project(softmodes LANGUAGES CXX)" in read("CMakeLists.txt")


def test_the_citation_is_of_this_version_and_license():
    citation = read_yaml(ROOT / "CITATION.cff")
    assert citation["version"] == softmodes.__version__
    assert citation["license"] == PROJECT["project"]["license"]
    assert f"## {softmodes.__version__}" in read("CHANGELOG.md")
    assert citation["references"][0]["url"] in read("README.md")


def test_the_workflows_run_what_exists():
    assert {path.stem for path in WORKFLOWS} == {"lint", "tests", "wheels"}
    sessions = set(
        re.findall(r"^def (\w+)\(session: nox.Session\) -> None", read("noxfile.py"), re.M)
    )
    asked = set()
    for path in WORKFLOWS:
        workflow = read_yaml(path)
        assert {"name", "on", "permissions", "jobs"} <= set(workflow), path
        for step in steps_of(workflow):
            for names in re.findall(r"nox --session ([\w ]+)", step.get("run", "")):
                asked.update(names.split())
    assert {"lint", "types", "docs", "oldest", "sanitize", "neon"} <= asked <= sessions


def test_every_declared_python_is_tested_and_gets_wheels():
    matrix = read_yaml(ROOT / ".github/workflows/tests.yml")["jobs"]["pythons"]["strategy"][
        "matrix"
    ]
    assert matrix["python"] == DECLARED
    assert {entry["python"] for entry in matrix["include"]} <= set(DECLARED)
    wheels = [f"cp{python.replace('.', '')}-*" for python in DECLARED]
    assert PROJECT["tool"]["cibuildwheel"]["build"] == wheels
    assert PROJECT["project"]["requires-python"] == f">={DECLARED[0]}"
    assert f"Python {DECLARED[0]} or newer" in read("README.md")


def test_every_kind_of_machine_is_tested_and_gets_wheels():
    machines = {"ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel", "windows-2025"}
    tests, wheels = (
        read_yaml(ROOT / f".github/workflows/{n}.yml")["jobs"] for n in ("tests", "wheels")
    )
    tested = tests["pythons"]["strategy"]["matrix"]
    assert {*tested["os"], *(entry["os"] for entry in tested["include"])} == machines
    assert set(wheels["wheels"]["strategy"]["matrix"]["os"]) == machines


def test_the_oldest_dependencies_are_those_that_are_declared():
    extras = PROJECT["project"]["optional-dependencies"]
    declared = dict(
        requirement.split(">=")
        for requirement in [
            *PROJECT["project"]["dependencies"],
            *extras["cli"],
            *extras["excel"],
            *extras["frames"],
            *extras["paper"],
            *extras["spss"],
        ]
    )
    lines = [line for line in read("constraints/oldest.txt").splitlines() if line[0] != "#"]
    pinned = dict(line.split("==") for line in lines)
    for name, least in declared.items():
        assert pinned[name] == least or pinned[name].startswith(f"{least}."), name


def test_hooks_and_environments_run_the_same_tools():
    pins = dict(
        r.split("==") for r in PROJECT["project"]["optional-dependencies"]["test"] if "==" in r
    )
    hooks = {
        repository["repo"].rsplit("/", 1)[1]: repository["rev"].removeprefix("v")
        for repository in read_yaml(ROOT / ".pre-commit-config.yaml")["repos"]
    }
    assert hooks["ruff-pre-commit"] == pins["ruff"]
    assert hooks["mirrors-mypy"] == pins["mypy"]
    assert hooks["mirrors-clang-format"] == pins["clang-format"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(path):
    text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\((?!https?:|#)([^)\s#]+)", text)
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_files_and_scripts_that_the_contributors_guide_names_exist():
    text = read("CONTRIBUTING.md")
    named = re.findall(r"`(?:\w+=\S+ )*bash (scripts/\w+\.sh)", text)
    named += re.findall(r"tests/[\w/]+\.py", text)
    assert len(named) > 4
    assert [name for name in named if not (ROOT / name).exists()] == []
    modules = re.findall(r"`(\w+(?:/\w+)*(?:\.py|/))`", text)
    places = (ROOT, ROOT / "src/softmodes")
    assert [m for m in modules if not any((place / m).exists() for place in places)] == []
