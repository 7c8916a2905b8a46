from __future__ import annotations

from typer.testing import CliRunner, Result

from softmodes._cli.main import app


def softmodes(*arguments: object, columns: int = 200) -> Result:
    """Run the command in this process."""
    result = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": str(columns)})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def refused(*arguments: object) -> str:
    """Return the line by which the command refuses something."""
    result = softmodes(*arguments)
    assert result.exit_code == 1
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.split())
