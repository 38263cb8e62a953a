"""`inglenook doctor`: one line a check; exit code 1 if one fails."""

import json
import sys
from dataclasses import asdict

from inglenook.api.page_folder import PAGE_FOLDER
from inglenook.bootstrap.runtime import open_runtime
from inglenook.cli.render import Progress, plain
from inglenook.errors import StoreError
from inglenook.runs.doctor import Check, check_home, check_page, check_python, run_checks
from inglenook.settings.load import Loaded

GLYPHS = {"ok": "✓", "warn": "!", "fail": "✕"}
STYLES = {"ok": "", "warn": "amber", "fail": "red"}


async def doctor(loaded: Loaded, *, as_json: bool) -> int:
    try:
        checks = await _checked(loaded)
    except StoreError as error:
        checks = await _checked_without_store(loaded, error)
    if as_json:
        sys.stdout.write(
            json.dumps({"checks": [asdict(check) for check in checks]}, indent=2) + "\n"
        )
    else:
        out = Progress(sys.stdout)
        for check in checks:
            out.line(f"{GLYPHS[check.state]} {check.name}: {plain(check.why)}", STYLES[check.state])
            if check.fix:
                out.line(f"    → {plain(check.fix)}")
    return 1 if any(check.state == "fail" for check in checks) else 0


async def _checked(loaded: Loaded) -> list[Check]:
    async with open_runtime(loaded) as runtime:
        return await runtime.doctor()


async def _checked_without_store(loaded: Loaded, error: StoreError) -> list[Check]:
    """What can be checked where no runtime opens: the store's failure is one check of several."""
    later = "not checked: that needs the home's store"
    return [
        *await run_checks({"python": check_python, "home": lambda: check_home(loaded.home)}),
        Check(name="store", state="fail", why=str(error), fix="Repair it as said, then try again."),
        Check(name="models", state="warn", why=later),
        Check(name="knowledge", state="warn", why=later),
        *await run_checks({"page": lambda: check_page(PAGE_FOLDER)}),
    ]
