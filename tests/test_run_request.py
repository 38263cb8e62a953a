"""A request's limits are numbers, not what looks like them."""

import pytest
from pydantic import ValidationError

from inglenook.run_request import RequestLimits


@pytest.mark.parametrize("seconds", ["5", True, float("nan"), float("inf"), 0])
def test_seconds_that_are_no_positive_number_are_refused(seconds: object):
    with pytest.raises(ValidationError):
        RequestLimits.model_validate({"seconds": seconds})


@pytest.mark.parametrize("seconds", [5, 0.5, None])
def test_seconds_are_any_number(seconds: float | None):
    assert RequestLimits.model_validate({"seconds": seconds}).seconds == seconds
    assert RequestLimits.model_validate_json(RequestLimits(seconds=seconds).model_dump_json())
