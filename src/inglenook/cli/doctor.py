"""`inglenook doctor`: one line a check; exit code 1 if one fails."""

import json
import sys
from dataclasses import asdict

from inglenook.bootstrap import open_runtime
from inglenook.cli.render import Progress, plain
from inglenook.settings import Loaded

GLYPHS = {"ok": "✓", "warn": "!", "fail": "✕"}
STYLES = {"ok": "", "warn": "amber", "fail": "red"}


async def doctor(loaded: Loaded, *, as_json: bool) -> int:
    async with open_runtime(loaded, use_demo=False) as runtime:
        is_cached = runtime.demo.is_cached()  # a check must not fetch a gigabyte
    async with open_runtime(loaded, use_demo=is_cached) as runtime:
        checks = await runtime.doctor()
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
