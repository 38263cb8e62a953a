"""scripts/build_page.py with an npm made for the test: when it runs, and what a failure leaves."""

import importlib.util
import shutil
import stat
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
NPM = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls.txt"
case "$1" in
  ci) mkdir -p node_modules ;;
  run) {build} ;;
esac
"""
BUILD = 'for last in "$@"; do :; done; mkdir -p "$last"; echo built > "$last/index.html"'


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_page", ROOT / "scripts/build_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "frontend" / "src").mkdir(parents=True)
    (tmp_path / "src" / "inglenook" / "api").mkdir(parents=True)
    for name in ("package.json", "package-lock.json", "src/main.tsx"):
        (tmp_path / "frontend" / name).write_text("{}")
    return tmp_path


def use_npm(folder: Path, monkeypatch: pytest.MonkeyPatch, build: str = BUILD) -> Path:
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    npm = tools / "npm"
    npm.write_text(NPM.format(build=build))
    npm.chmod(npm.stat().st_mode | stat.S_IXUSR)
    (tools / "calls.txt").write_text("")
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    return tools / "calls.txt"


def test_unchanged_sources_run_no_npm(
    script: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = use_npm(checkout, monkeypatch)
    assert script.build_page(checkout).startswith("Built")
    assert (checkout / "src/inglenook/api/page/index.html").read_text() == "built\n"
    first = calls.read_text()
    assert script.build_page(checkout) == "The page is up to date."
    assert calls.read_text() == first


def test_a_changed_source_builds_again_without_installing_again(
    script: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = use_npm(checkout, monkeypatch)
    script.build_page(checkout)
    (checkout / "frontend/src/main.tsx").write_text("changed")
    assert script.build_page(checkout).startswith("Built")
    verbs = [line.split()[0] for line in calls.read_text().splitlines()]
    assert verbs == ["ci", "run", "run"]


def test_install_scripts_of_packages_never_run(
    script: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = use_npm(checkout, monkeypatch)
    script.build_page(checkout)
    assert "ci --ignore-scripts" in calls.read_text()


def test_without_npm_it_says_how_to_get_the_page(
    script: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    said = script.build_page(checkout)
    assert "npm is missing" in said
    assert "apt install npm" in said


def test_a_failed_build_keeps_the_old_page_and_shows_the_reason(
    script: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_npm(checkout, monkeypatch)
    script.build_page(checkout)
    use_npm(checkout, monkeypatch, build='echo "no such token" >&2; exit 7')
    (checkout / "frontend/src/main.tsx").write_text("broken")
    with pytest.raises(script.PageBuildError, match=r"code 7[\s\S]*no such token"):
        script.build_page(checkout)
    assert (checkout / "src/inglenook/api/page/index.html").read_text() == "built\n"


def test_a_wheel_from_a_source_archive_without_frontend_keeps_its_page(
    script: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(checkout / "frontend")
    monkeypatch.setenv("PATH", str(checkout))
    assert "as it was" in script.build_page(checkout)
