#!/usr/bin/env python3
"""Builds the web page from frontend/ into src/inglenook/api/page/, when its sources changed.

Standard library only, so that `make` and the wheel's build hook can both call it. Prints one
line. Exit code 0: the page is there, or npm is missing (all but the page works without it);
1: the build failed; with `--test`: the page's own checks failed, or npm is missing.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NO_NPM = (
    "npm is missing, so the web page is not built; everything else works. "
    "To get it: sudo apt install npm (or any Node.js >= 18), then run make again."
)
_NOT_SOURCES = {"node_modules", "dist"}
_STAMP = "built-from.txt"


class PageBuildError(Exception):
    """The message holds the end of npm's output."""


def build_page(root: Path = ROOT, *, force: bool = False) -> str:
    """Bring the built page up to date and return one line that says what was done.

    Raises:
        PageBuildError: npm or the bundler failed.
    """
    frontend, target = root / "frontend", root / "src" / "inglenook" / "api" / "page"
    if not (frontend / "package.json").is_file():
        return "The page is as it was: its sources are not here."
    digest = source_digest(frontend)
    stamp = target / _STAMP
    if not force and stamp.is_file() and stamp.read_text(encoding="utf-8").strip() == digest:
        return "The page is up to date."
    npm = shutil.which("npm")
    if npm is None:
        return NO_NPM
    # Built elsewhere and moved there, so that a failed build leaves the old page whole.
    fresh = frontend / "dist"
    install(npm, frontend, with_tests=False)
    run_npm(npm, frontend, "run", "--silent", "build", "--", "--out", str(fresh))
    (fresh / _STAMP).write_text(digest + "\n", encoding="utf-8")
    if target.exists():
        shutil.rmtree(target)
    shutil.move(fresh, target)
    return f"Built the page into {target.relative_to(root)}."


def source_digest(frontend: Path) -> str:
    """SHA-256 over the names and bytes of everything the page is built from."""
    digest = hashlib.sha256()
    for path in sorted(_sources(frontend)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(frontend).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _sources(frontend: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(frontend):
        folders[:] = [name for name in folders if name not in _NOT_SOURCES]
        for name in files:
            if ".test." not in name and not name.endswith(".md"):
                yield Path(folder, name)


def install(npm: str, frontend: Path, *, with_tests: bool) -> None:
    """Put the locked packages into node_modules; a second call with the same lock does nothing.

    No package's install script runs: none of them is needed.

    Raises:
        PageBuildError: npm could not.
    """
    lock = hashlib.sha256((frontend / "package-lock.json").read_bytes()).hexdigest()
    done = frontend / "node_modules" / ".installed"
    known = done.read_text(encoding="utf-8").split() if done.is_file() else []
    if known[:1] == [lock] and (not with_tests or "tests" in known):
        return
    only = [] if with_tests else ["--omit=dev"]
    run_npm(npm, frontend, "ci", "--ignore-scripts", "--no-audit", "--no-fund", *only)
    done.write_text(f"{lock} {'tests' if with_tests else ''}\n", encoding="utf-8")


def run_npm(npm: str, frontend: Path, *arguments: str) -> None:
    """
    Raises:
        PageBuildError: npm ended with another code than 0.
    """
    done = subprocess.run(
        [npm, *arguments], cwd=frontend, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
        raise PageBuildError(f"npm {arguments[0]} failed with code {done.returncode}:\n{tail}")


def check_page(root: Path = ROOT) -> str:
    """Type check and unit tests of the page.

    Raises:
        PageBuildError: They failed, or npm is missing.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise PageBuildError(NO_NPM)
    frontend = root / "frontend"
    install(npm, frontend, with_tests=True)
    run_npm(npm, frontend, "test")
    return "The page's own tests pass."


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the web page.")
    parser.add_argument("--force", action="store_true", help="build even when nothing changed")
    parser.add_argument("--test", action="store_true", help="type check and unit tests instead")
    options = parser.parse_args()
    try:
        print(check_page() if options.test else build_page(force=options.force))
    except PageBuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
