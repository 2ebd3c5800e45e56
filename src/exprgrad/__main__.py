"""``python -m exprgrad`` is the command."""

from exprgrad.cli.main import run

run()
