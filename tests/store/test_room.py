"""The home is asked whether it takes writes, and is left as it was."""

import resource
from pathlib import Path

import pytest

from inglenook.errors import StoreError
from inglenook.store.room import check_room


def test_a_home_with_room_is_left_as_it_was(tmp_path: Path):
    check_room(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_home_that_takes_no_more_bytes_is_named_and_left_clean(tmp_path: Path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    try:
        with pytest.raises(StoreError, match="takes no writes"):
            check_room(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_a_home_that_is_gone_is_named(tmp_path: Path):
    with pytest.raises(StoreError, match="gone"):
        check_room(tmp_path / "gone")
