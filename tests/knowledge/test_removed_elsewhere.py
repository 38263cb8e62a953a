"""A knowledge base that another process removed is gone here, too, also for runs that have it."""

from pathlib import Path

import pytest

from inglenook.errors import NotFound, ToolError
from inglenook.knowledge.local import LocalKnowledge


async def test_a_base_removed_by_another_process_is_read_no_more(tmp_path: Path):
    here, there = LocalKnowledge(tmp_path, embedder=None), LocalKnowledge(tmp_path, embedder=None)
    try:
        base = await here.create("Board", "confidential")
        await here.add_bytes(base.id, "a.md", b"# Zebra\n\nThe zebra is striped.\n")
        scope = await here.open([base.id])
        assert await scope.confidential() == {base.id}
        assert len(await scope.retrieve("zebra", 3)) == 1
        await there.remove(base.id)
        for read in (scope.documents(), scope.retrieve("zebra", 3), scope.read("f-x")):
            with pytest.raises(ToolError):
                await read
        assert await scope.confidential() == {base.id}, "what cannot be read counts as confidential"
        with pytest.raises(NotFound):
            await here.open([base.id])
        with pytest.raises(NotFound):
            await here.search(base.id, "zebra", 3)
        assert list(await here.list()) == []
    finally:
        await here.close()
        await there.close()
