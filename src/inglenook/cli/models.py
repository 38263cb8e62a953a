"""`inglenook models …`: what is on offer, and the demo model's download."""

import json
import sys

from inglenook.bootstrap.runtime import open_runtime
from inglenook.cli.download import DownloadLine
from inglenook.cli.render import Progress, one_line, print_line
from inglenook.errors import InvalidRequest
from inglenook.providers.catalogue import ModelReport
from inglenook.runs.model_words import mode_in_words, speed_in_words, window_in_words
from inglenook.runs.views import report_view
from inglenook.settings.load import Loaded


async def list_models(loaded: Loaded, *, as_json: bool) -> int:
    async with open_runtime(loaded) as runtime:
        reports = await runtime.models.reports(start_demo=False)
        unanswered = await runtime.models.unanswered()
    for sentence in unanswered:
        Progress().line(sentence, "amber")
    if as_json:
        sys.stdout.write(json.dumps([report_view(report) for report in reports], indent=2) + "\n")
        return 0
    for report in reports:
        said = report.error or report.spec.note
        print_line(
            f"{one_line(report.spec.id)}  {', '.join(_known(report)) or '-'}  {said}".rstrip()
        )
    return 0


def _known(report: ModelReport) -> list[str]:
    if report.error is not None:
        return []
    tools = {True: "tools", False: "no tools", None: "tools unknown"}
    known = [tools[report.abilities.tools]]
    if report.abilities.thinking:
        known.append("thinking")
    known.append(f"window {window_in_words(report)}")
    return ["; ".join([", ".join(known), f"calls {mode_in_words(report)}", speed_in_words(report)])]


async def pull(loaded: Loaded, *, name: str) -> int:
    if name != "demo":
        raise InvalidRequest(
            f"Inglenook fetches only the demo model, not {name!r}.",
            hint=f"For Ollama's models use `ollama pull {name}`.",
        )
    progress = Progress()
    async with open_runtime(loaded) as runtime:
        path = await runtime.demo.pull(DownloadLine(progress))
    progress.line(f"the demo model is in {path}")
    return 0
