"""Errors in words for users."""

import pickle
import ssl

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from build_dataset.schemas.errors import (
    UnreadableDocument,
    UserError,
    bad_certificate,
    first_problem,
    refused_as,
    trusted_certificates,
)


class Row(BaseModel):
    stem: str
    answer: list[str] = []

    @field_validator("stem")
    @classmethod
    def _filled(cls, value: str) -> str:
        if not value:
            raise ValueError("must not be empty")
        return value


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({}, "stem is missing"),
        ({"stem": ""}, "stem: must not be empty"),
        ({"stem": "x", "answer": ["A", 5]}, "answer.1: Input should be a valid string"),
        ("x", "the row: Input should be a valid dictionary or instance of Row"),
    ],
)
def test_the_first_thing_that_is_wrong_is_told(data, told):
    with pytest.raises(ValidationError) as error:
        Row.model_validate(data)
    assert first_problem(error.value) == told


def test_a_document_that_cannot_be_read_crosses_processes_whole():
    error = pickle.loads(pickle.dumps(UnreadableDocument("encrypted", "it has a password")))
    assert (error.reason, error.detail, str(error)) == (
        "encrypted",
        "it has a password",
        "encrypted: it has a password",
    )


def test_a_certificate_is_blamed_however_deep_it_lies_and_nothing_else_is():
    refused = ssl.SSLCertVerificationError("x")
    refused.verify_message = "self-signed"
    outer, inner = OSError("outer"), OSError("inner")
    outer.__context__, inner.__cause__ = inner, refused
    told = bad_certificate(outer, "https://x")
    assert told is not None
    assert told.startswith("the certificate of https://x cannot be verified (self-signed): ")
    assert bad_certificate(OSError("x"), "https://x") is bad_certificate(None, "https://x") is None


@pytest.mark.parametrize(("error", "told"), [(OSError(2, "No such file"), "No such file"), (OSError("odd"), "odd")])
def test_certificates_that_cannot_be_read_are_one_line(monkeypatch, error, told) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "x.pem")
    with pytest.raises(UserError) as caught, trusted_certificates():
        raise error
    assert str(caught.value) == f"SSL_CERT_FILE=x.pem: {told}: name a file of certificates in PEM"


@pytest.mark.parametrize("length", [199, 200, 201])
def test_a_document_is_refused_with_two_hundred_characters_of_the_reason(length) -> None:
    with pytest.raises(UnreadableDocument) as caught, refused_as("broken", "cut short", ValueError):
        raise ValueError("x" * length)
    assert (caught.value.reason, caught.value.detail) == ("broken", f"cut short: {'x' * min(length, 200)}")


def test_a_lack_of_memory_is_not_the_documents() -> None:
    for error in (MemoryError(), UnreadableDocument("timeout", "x")):
        with pytest.raises(type(error)) as caught, refused_as("broken", "cut short", Exception):
            raise error
        assert caught.value is error
