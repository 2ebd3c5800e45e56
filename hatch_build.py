"""Build hook: have Lark compile the grammar into ``_tables.py``, so that no command needs to."""

import sys
from pathlib import Path
from pprint import pformat
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HEADER = '"""LALR tables of grammar/expression.lark, written by hatch_build.py: do not edit."""\n\n'


class TablesHook(BuildHookInterface):
    """Writes the tables before a wheel or an editable install is made."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the grammar that stands beside this file."""
        root = Path(self.root)
        sys.path.insert(0, str(root / "src"))
        from exprgrad.language.read.lalr import compile_grammar, grammar_text

        tables = tuple(compile_grammar(grammar_text()))
        text = f"{HEADER}TABLES = {pformat(tables, width=100, compact=True)}\n"
        path = root / "src" / "exprgrad" / "language" / "read" / "_tables.py"
        path.write_text(text, encoding="utf-8")
