"""Files out of a multipart body, in memory: Starlette's own reader spools them to the system's
/tmp, and nothing may be written outside the home."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from inglenook.api.body_limit import UPLOAD_LIMIT_BYTES
from inglenook.errors import InvalidRequest

MAX_FILES = 1000


@dataclass(frozen=True, kw_only=True)
class Upload:
    name: str
    content: bytes


async def uploads_of(request: Request, field: str) -> Sequence[Upload]:
    """The files posted under `field`, in order.

    Raises:
        InvalidRequest: Not multipart/form-data, no file under that name, another field.
    """
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise InvalidRequest(
            f"send the files as multipart/form-data, each in a field named {field!r}", status=415
        )
    parser = MultiPartParser(request.headers, request.stream(), max_files=MAX_FILES, max_fields=0)
    parser.spool_max_size = UPLOAD_LIMIT_BYTES + 1
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise InvalidRequest(f"the multipart body cannot be read: {error.message}") from error
    try:
        return await _files(form, field)
    finally:
        await form.close()


async def _files(form: FormData, field: str) -> Sequence[Upload]:
    found: list[Upload] = []
    for name, part in form.multi_items():
        if name != field or not isinstance(part, UploadFile):
            raise InvalidRequest(f"unknown field {name!r}; files go in {field!r}", field=name)
        if not part.filename:
            raise InvalidRequest("a file has no name", field=field)
        found.append(Upload(name=part.filename, content=await part.read()))
    if not found:
        raise InvalidRequest(f"no file; send at least one in a field named {field!r}", field=field)
    return found
