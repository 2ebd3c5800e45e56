"""The commands by name; each is loaded when it is called for, since starting takes the most time."""

from __future__ import annotations

from importlib import import_module

import click

__all__ = ["COMMANDS", "load"]

COMMANDS = {
    "eval": "eval_grad",
    "grad": "eval_grad",
    "paths": "paths",
    "descend": "descend",
    "check": "check",
    "jac": "matrices",
    "hess": "matrices",
    "jvp": "matrices",
    "vjp": "matrices",
    "diff": "formulas",
    "code": "code",
    "dot": "dot",
    "explore": "explore",
    "ops": "ops",
}
"""Command → the module of this room that has it, as ``NAME_command``; in the order of the lesson."""


def load(name: str) -> click.Command:
    """A command, by its name."""
    module = import_module(f"exprgrad.cli.{COMMANDS[name]}")
    command: click.Command = getattr(module, f"{name}_command")
    return command
