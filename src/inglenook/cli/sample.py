"""The sample knowledge base: a fictional company's documents, for a first question that works."""

from pathlib import Path

from inglenook.bootstrap.runtime import open_runtime
from inglenook.cli.library import library_of, take_in
from inglenook.cli.render import Progress
from inglenook.settings.load import Loaded

SAMPLE_NAME = "Sample documents"
SAMPLE_FOLDER = Path(__file__).parents[1] / "sample"
EXAMPLE_QUESTION = "How many vacation days does the employee handbook give?"


async def ensure_sample(loaded: Loaded, progress: Progress) -> list[str]:
    """The id of the sample knowledge base, loaded if it is missing; none with Open WebUI."""
    async with open_runtime(loaded) as runtime:
        if runtime.library is None:
            return []
        for base in await runtime.library.list():
            if base.name == SAMPLE_NAME:
                return [base.id]
        base = await library_of(runtime).create(SAMPLE_NAME)
        await take_in(runtime.library, base, [SAMPLE_FOLDER], progress)
        return [base.id]
