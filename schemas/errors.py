"""Errors that a user can cause, told in one line."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from pydantic import ValidationError


class UserError(Exception):
    """Something the user can put right: the message names the file or key, what is wrong, what to do.

    The command line prints the message alone and exits with 2; a traceback is a bug.
    """


class UnreadableDocument(Exception):  # noqa: N818 - it names the document, not a mistake of ours
    """A document, or a page of it, cannot be read; it is rejected and the run goes on.

    ``reason`` is a short code for tables, e.g. ``encrypted``; ``detail`` one sentence for people.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        """Pickle by both fields, so that the error crosses process borders whole."""
        return type(self), (self.reason, self.detail)


@contextmanager
def refused_as(
    reason: str, told: str, kinds: type[Exception] | tuple[type[Exception], ...] = Exception
) -> Iterator[None]:
    """Refuse a document with a reason and a sentence, to which what a library raised is added.

    Libraries raise a dozen kinds of errors for damaged files, MuPDF bare exceptions, so all are meant where no
    ``kinds`` are named; but a lack of memory is not the document's.
    """
    try:
        yield
    except (UnreadableDocument, MemoryError):
        raise
    except kinds as error:
        raise UnreadableDocument(reason, f"{told}: {str(error)[:200]}") from error


def first_problem(error: ValidationError) -> str:
    """Return the first thing that is wrong with data of the user's: ``answer: Input should be a valid string``."""
    first = error.errors()[0]
    key = ".".join(map(str, first["loc"])) or "the row"
    missing = first["type"] == "missing"
    return f"{key} is missing" if missing else f"{key}: {first['msg'].removeprefix('Value error, ')}"


@contextmanager
def trusted_certificates() -> Iterator[None]:
    """Turn certificates that are not there, or cannot be read, into one line while a client of HTTP is made."""
    try:
        yield
    except OSError as error:
        given = f"SSL_CERT_FILE={os.environ.get('SSL_CERT_FILE', '')}"
        raise UserError(f"{given}: {error.strerror or error}: name a file of certificates in PEM") from None


def bad_certificate(error: BaseException | None, url: str) -> str | None:
    """Return the message for a server whose certificate cannot be verified; None where another thing went wrong."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):  # clients wrap it
        error = error.__cause__ or error.__context__
    if error is None:
        return None
    return (
        f"the certificate of {url} cannot be verified ({error.verify_message}): if an authority of your own issued it,"
        " `export SSL_CERT_FILE=FILE`, a file with the certificates of all authorities to trust"
    )
