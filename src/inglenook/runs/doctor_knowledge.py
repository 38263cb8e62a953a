"""Checks of what documents are found with: the local library, its embedder, Open WebUI."""

from inglenook.errors import CredentialNeeded, InvalidRequest, ProviderBusy, ProviderError
from inglenook.knowledge.embedder_choice import EmbedderChoice
from inglenook.knowledge.local import LocalKnowledge
from inglenook.knowledge.open_webui import OpenWebUIKnowledge
from inglenook.runs.doctor import Check, counted

WORDS_ALONE = "Until then documents are found by their words alone."


async def check_knowledge(library: LocalKnowledge | None) -> Check:
    if library is None:
        return Check(
            name="knowledge", state="ok", why="in Open WebUI, read with each user's own key"
        )
    bases = await library.list()
    chunks, embedded = sum(b.chunks for b in bases), sum(b.embedded for b in bases)
    why = f"{counted(len(bases), 'knowledge base')}, {counted(chunks, 'chunk')}, "
    return Check(name="knowledge", state="ok", why=f"{why}{embedded} of them embedded")


async def check_embedder(choice: EmbedderChoice | None) -> Check:
    """Has it embed a few words: a model that is there but makes no vectors is found out."""
    name = "embedder"
    if choice is None:
        return Check(name=name, state="ok", why="none here: Open WebUI embeds its documents itself")
    if choice.embedder is None:
        if choice.note:
            return Check(name=name, state="warn", why=choice.note)
        return Check(name=name, state="ok", why="none: documents are found by their words alone")
    try:
        vector = await choice.embedder.embed_query("a question")
    except ProviderError as error:
        return Check(name=name, state="fail", why=str(error), fix=WORDS_ALONE)
    why = f"{choice.embedder.id} answers, {vector.shape[-1]} dimensions"
    return Check(name=name, state="ok", why=why)


async def check_open_webui(knowledge: OpenWebUIKnowledge, key: str | None) -> Check:
    """Does it answer, as which version, and does it take the key of who asks?"""
    name = "Open WebUI"
    try:
        version = await knowledge.version()
    except (ProviderBusy, InvalidRequest) as error:
        return Check(name=name, state="fail", why=str(error))
    said = f"answers, version {version}"
    if key is None:
        why = f"{said}; INGLENOOK_OPEN_WEBUI_KEY is not set, so no key was tried"
        return Check(name=name, state="ok", why=why)
    try:
        bases = await knowledge.list(key)
    except (CredentialNeeded, ProviderBusy, InvalidRequest) as error:
        return Check(
            name=name,
            state="fail",
            why=f"{said}, but not to INGLENOOK_OPEN_WEBUI_KEY: {error}",
            fix="Make a key in Open WebUI (Settings, Account) and set the variable to it.",
        )
    why = f"{said}; the key opens {counted(len(bases), 'knowledge base')}"
    return Check(name=name, state="ok", why=why)
