#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""Everything that is checked, each in an environment of its own: `nox --list`."""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"

PYTHONS = nox.project.python_versions(nox.project.load_toml("pyproject.toml"))


def run_script(session: nox.Session, name: str, *arguments: str) -> None:
    """Run one of scripts/ with the interpreter and the tools of the session."""
    env = {"PYTHON": f"{session.bin}/python", "VENV": str(session.virtualenv.location)}
    session.run("bash", f"scripts/{name}.sh", *arguments, *session.posargs, env=env, external=True)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the tests on the installed package."""
    session.install(".[test]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session(python=PYTHONS[0], default=False)
def oldest(session: nox.Session) -> None:
    """Run the tests with the oldest dependencies that are allowed."""
    session.install("--constraint", "constraints/oldest.txt", ".[test]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check formatting, lint, import order and workflow files."""
    session.install(".[test]")
    run_script(session, "check", "format", "lint", "imports", "cpp", "workflows")


@nox.session
def types(session: nox.Session) -> None:
    """Check types."""
    session.install(".[test]")
    run_script(session, "check", "types")


@nox.session
def docs(session: nox.Session) -> None:
    """Run the examples of the documents and follow their links."""
    session.install(".[test]")
    files = [f"tests/project/test_{name}.py" for name in ("readme", "doctests", "project")]
    session.run("python", "-m", "pytest", *files, *session.posargs)


@nox.session(default=False)
def sanitize(session: nox.Session) -> None:
    """Run the tests of the core under AddressSanitizer and UndefinedBehaviorSanitizer."""
    session.install(".[test]")
    run_script(session, "sanitize")


@nox.session(default=False)
def neon(session: nox.Session) -> None:
    """Compare the NEON kernels with the generic ones, under an emulator if need be."""
    session.install("cmake>=3.26", "ninja>=1.11")
    run_script(session, "neon")


@nox.session(default=False)
def browser(session: nox.Session) -> None:
    """Open reports in a real browser."""
    session.install(".[test,browser-test]")
    run_script(session, "browser")


@nox.session(default=False)
def engines(session: nox.Session) -> None:
    """Test Dask and Spark, each as a cluster of processes on this machine."""
    session.install(".[test,scale-test]")
    run_script(session, "engines")


@nox.session(default=False)
def mutation(session: nox.Session) -> None:
    """Plant faults and see the tests find them."""
    groups = nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "mutation")
    session.install(".[test]", *groups)
    run_script(session, "mutation")


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Look for wrong answers and crashes with made-up tables and files."""
    session.install(".[test]")
    session.run("python", "-m", "fuzz", *session.posargs)


if __name__ == "__main__":
    nox.main()
