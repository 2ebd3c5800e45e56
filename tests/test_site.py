"""The documentation's site: every page has its place, and the site is whole."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import exprgrad

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\]\(([^)#]+\.\w+)(?:#[^)]*)?\)")


def pages_in(part: Any) -> list[str]:
    """The pages that a part of the navigation names, in order."""
    if isinstance(part, str):
        return [part]
    return [
        page
        for one in (part.values() if isinstance(part, dict) else part)
        for page in pages_in(one)
    ]


def test_every_page_has_one_place_in_the_navigation() -> None:
    project = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")]
    assert sorted(pages_in(project["nav"])) == sorted(pages)


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md"]
)
def test_links_of_the_pages_outside_the_site_lead_somewhere(name: str) -> None:
    """The site's own links are followed when it is built."""
    links = [one for one in LINK.findall((ROOT / name).read_text("utf-8")) if "://" not in one]
    assert [one for one in links if not (ROOT / one).exists()] == []


def test_the_site_asks_nothing_of_other_servers() -> None:
    """Scripts, styles and fonts come with it, and no repository's stars are asked for."""
    project = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    asked = [*project["extra_css"], *project["extra_javascript"]]
    assert all((ROOT / "docs" / one).exists() for one in asked)
    assert project["theme"]["font"] is False and "repo_url" not in project


def test_the_version_to_cite_is_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"\nversion: {project['version']}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert exprgrad.__version__ == project["version"]
    assert f"\n## [{project['version']}] - " in (ROOT / "CHANGELOG.md").read_text("utf-8")
