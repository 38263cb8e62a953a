"""`/api/knowledge`: the knowledge bases of this user, their files and a search in them.

Reading goes through the same `Knowledge` that runs use; only what is local can be changed here.
"""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from inglenook.api.bodies import KnowledgeBody
from inglenook.api.errors import OPEN_WEBUI_KEY
from inglenook.api.services import KnowledgeLibrary, Served, Services
from inglenook.api.strict_json import JsonResponse, StrictRoute
from inglenook.api.uploads import Upload, uploads_of
from inglenook.errors import CredentialNeeded, InvalidRequest, NotFound
from inglenook.knowledge.knowledge_folder import checked_file_name

router = APIRouter(prefix="/api/knowledge", route_class=StrictRoute, tags=["knowledge"])

Credential = Annotated[str | None, Header(alias=OPEN_WEBUI_KEY, max_length=10_000)]
MULTIPART: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "array", "items": {"type": "string", "format": "binary"}}
                    },
                }
            }
        },
    }
}


@router.get("")
async def list_knowledge(services: Served, credential: Credential = None) -> Response:
    """`{"provider", "items": [{"id", "name", "label", "files", "chunks", "embedded"}]}`"""
    if services.knowledge_provider == "open-webui" and not credential:
        raise CredentialNeeded("Open WebUI wants your own key to list your knowledge bases")
    bases = await services.knowledge.list(credential or None)
    return JsonResponse(
        {"provider": services.knowledge_provider, "items": [asdict(base) for base in bases]}
    )


@router.post("", status_code=201)
async def create_knowledge(body: KnowledgeBody, services: Served) -> Response:
    """A new, empty base. What is in a `confidential` one never leaves: its runs have no web."""
    base = await library_of(services).create(body.name, body.label)
    return JsonResponse(asdict(base), 201)


@router.delete("/{knowledge_id}")
async def remove_knowledge(knowledge_id: str, services: Served) -> Response:
    """Delete the base with all that was kept of its files."""
    await library_of(services).remove(knowledge_id)
    return JsonResponse({"id": knowledge_id, "removed": True})


@router.get("/{knowledge_id}/files")
async def list_files(
    knowledge_id: str, services: Served, credential: Credential = None
) -> Response:
    """`{"items": [{"id", "name", "size_bytes"}]}`"""
    scope = await services.knowledge.open([knowledge_id], credential or None)
    return JsonResponse(
        {
            "items": [
                {"id": document.id, "name": document.name, "size_bytes": document.size_bytes}
                for document in await scope.documents()
            ]
        }
    )


@router.post("/{knowledge_id}/files", openapi_extra=MULTIPART)
async def add_files(knowledge_id: str, request: Request, services: Served) -> Response:
    """Add files: `{"results": [{"name", "outcome", "detail"}]}`, one a file.

    Their text can be found when this returns; vectors follow. A file keeps its relative path in
    its name (`a/b.txt`); of two files of one name in one request the second fails.
    """
    library = library_of(services)
    taken: set[str] = set()
    results = [
        await _added(library, knowledge_id, upload, taken)
        for upload in await uploads_of(request, "file")
    ]
    return JsonResponse({"results": results})


async def _added(
    library: KnowledgeLibrary, knowledge_id: str, upload: Upload, taken: set[str]
) -> dict[str, Any]:
    """One bad file of many is a line in the answer, not its end; `taken` gets its name."""
    try:
        name = checked_file_name(upload.name)
        if name in taken:
            raise InvalidRequest(
                f"{name!r} came twice in this request; the first was taken. Send the other one "
                "under another name, or with its folder in the name"
            )
        taken.add(name)
        done = await library.add_bytes(knowledge_id, upload.name, upload.content)
        return {"name": done.name, "outcome": done.status, "detail": done.reason}
    except NotFound:
        raise
    except InvalidRequest as error:
        return {"name": upload.name, "outcome": "failed", "detail": str(error)}


@router.get("/{knowledge_id}/search")
async def search(
    knowledge_id: str,
    services: Served,
    q: Annotated[str, Query(min_length=1, max_length=10_000)],
    k: Annotated[int, Query(ge=1, le=50)] = 5,
    credential: Credential = None,
) -> Response:
    """The best `k` passages, as a run would find them: `{"items": [{"text", "file_id",
    "file_name", "knowledge_id", "score", "heading"}]}`."""
    scope = await services.knowledge.open([knowledge_id], credential or None)
    passages = await scope.retrieve(q, k)
    return JsonResponse({"items": [asdict(passage) for passage in passages]})


def library_of(services: Services) -> KnowledgeLibrary:
    """
    Raises:
        InvalidRequest: Knowledge lives elsewhere.
    """
    if services.library is None:
        raise InvalidRequest(
            "this server's knowledge bases are kept in Open WebUI",
            hint="Create them and add files there; they are listed here at once.",
            status=422,
        )
    return services.library
