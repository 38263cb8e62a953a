"""The table: our exception -> status and body, in the form of the face that was asked."""

import pytest

from inglenook.api.errors import Problem, problem_of
from inglenook.errors import (
    Conflict,
    ContextTooLong,
    CredentialNeeded,
    InvalidRequest,
    LeaseLost,
    ModelMissing,
    NotFound,
    ProviderBusy,
    ProviderError,
    StoreError,
    ToolError,
)


@pytest.mark.parametrize(
    ("error", "status", "type"),
    [
        (InvalidRequest("x"), 400, "invalid_request"),
        (InvalidRequest("x", status=422), 422, "unprocessable"),
        (InvalidRequest("x", status=413), 413, "too_large"),
        (NotFound("x"), 404, "not_found"),
        (Conflict("x"), 409, "conflict"),
        (CredentialNeeded("x"), 422, "credential_needed"),
        (ProviderBusy("x"), 503, "unavailable"),
        (ProviderError("x"), 502, "provider_error"),
        (ModelMissing("x"), 502, "provider_error"),
        (ContextTooLong("x"), 502, "provider_error"),
        (StoreError("x"), 503, "store_unavailable"),
        (LeaseLost("x"), 503, "store_unavailable"),
        (ToolError("x"), 503, "knowledge_unavailable"),
    ],
)
def test_each_error_has_one_status_and_type(error: Exception, status: int, type: str):
    problem = problem_of(error)
    assert (problem.status, problem.code) == (status, type)
    assert problem.message == "x"


def test_a_fault_of_our_own_says_nothing_of_its_text():
    problem = problem_of(RuntimeError("password=hunter2"))
    assert (problem.status, problem.code) == (500, "internal_error")
    assert "hunter2" not in str(problem)


PROBLEM = Problem(status=404, message="there is no x", field="model", hint="Use y.")


def test_our_own_faces_answer_with_type_message_field_and_hint():
    assert PROBLEM.body("/api/runs") == {
        "error": {
            "type": "not_found",
            "message": "there is no x",
            "field": "model",
            "hint": "Use y.",
        }
    }


def test_absent_fields_are_left_out():
    assert Problem(status=400, message="m").body("/api/runs") == {
        "error": {"type": "invalid_request", "message": "m"}
    }


def test_agent_run_answers_with_one_string():
    assert PROBLEM.body("/agent/run") == {"error": "there is no x. Use y."}


def test_the_openai_face_answers_in_its_clients_form():
    assert PROBLEM.body("/v1/chat/completions") == {
        "error": {
            "message": "there is no x. Use y.",
            "type": "not_found_error",
            "param": "model",
            "code": "not_found",
        }
    }
