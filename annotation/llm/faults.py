"""What an exception of the openai SDK means: worth another attempt, this item's failure, or everybody's."""

from __future__ import annotations

from dataclasses import dataclass

import httpx
import openai

from annotation.llm.messages import Reason
from annotation.llm.options import LlmOptions
from schemas.errors import UserError

_REFUSED_CODES = {
    "content_filter",
    "content_policy_violation",
    "moderation_blocked",
    "data_inspection_failed",
}
_TOO_LONG_CODES = {"context_length_exceeded", "string_above_max_length"}
_RETRIED_STATUS = {408, 409, 425}
_GATEWAY = {502, 504, 524}
"""A gateway gave up on a server that may have worked, and charged, behind it."""
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
"""What breaks before a request is on its way; afterwards it may have been worked on."""


@dataclass(frozen=True)
class Fault:
    """A failed attempt."""

    reason: Reason
    detail: str
    retry: bool
    """Whether another attempt may help."""
    wait: float | None = None
    """Seconds the endpoint asked to wait."""
    maybe_billed: bool = False
    """Whether the endpoint may have worked, and charged, without our seeing the answer."""


NOT_A_COMPLETION = Fault(
    Reason.MALFORMED_JSON,
    "the endpoint sent something that is not a chat completion",
    retry=True,
    maybe_billed=True,
)


def classify(error: Exception, options: LlmOptions) -> Fault:
    """The fault behind an exception. Texts of providers stay out of it: they may quote keys and questions.

    Raises:
        UserError: no request can succeed: the key is wrong, the model or address does not exist, no credit.
    """
    if isinstance(error, openai.APITimeoutError) and not isinstance(error.__cause__, _NEVER_SENT):
        detail = f"no answer within {options.timeout:g} s"
        return Fault(Reason.TIMEOUT, detail, retry=True, maybe_billed=True)
    if isinstance(error, openai.APIConnectionError):
        refused = isinstance(error.__cause__, _NEVER_SENT)
        detail = (
            f"no connection to {options.base_url}" if refused else "the connection broke before the answer"
        )
        return Fault(Reason.CONNECTION, detail, retry=True, maybe_billed=not refused)
    if isinstance(error, openai.APIStatusError):
        is_html = not isinstance(error.body, dict)
        return of_status(error.status_code, error.code, options, _asked_wait(error), foreign=is_html)
    if isinstance(error, ValueError | openai.APIResponseValidationError):
        return NOT_A_COMPLETION
    return Fault(Reason.ERROR, f"{type(error).__name__} while asking", retry=False)


def of_status(
    status: int, code: str | None, options: LlmOptions, wait: float | None = None, *, foreign: bool = False
) -> Fault:
    """The fault behind an HTTP status.

    Args:
        status: not 2xx.
        code: the provider's code of the error.
        options: for messages.
        wait: seconds the endpoint asked to wait.
        foreign: whether the reply is no JSON, so that something else than an API sent it.

    Raises:
        UserError: no request can succeed.
    """
    _raise_if_hopeless(status, code, options, foreign=foreign)
    if code in _REFUSED_CODES:
        return Fault(
            Reason.REFUSED, f"the endpoint's filter refused the question (HTTP {status})", retry=False
        )
    if code in _TOO_LONG_CODES or status == 413:
        return Fault(Reason.TOO_LONG, f"the question does not fit the model (HTTP {status})", retry=False)
    if status == 429:
        return Fault(Reason.RATE_LIMITED, "rate limit (HTTP 429)", retry=True, wait=wait)
    if status >= 500 or status in _RETRIED_STATUS:
        detail = f"the server failed (HTTP {status})"
        return Fault(Reason.SERVER_ERROR, detail, retry=True, wait=wait, maybe_billed=status in _GATEWAY)
    return Fault(Reason.BAD_REQUEST, f"the endpoint refused the request's form (HTTP {status})", retry=False)


def _raise_if_hopeless(status: int, code: str | None, options: LlmOptions, *, foreign: bool) -> None:
    if status == 403 and foreign:
        raise UserError(
            f"something before {options.base_url} refuses access (HTTP 403; a firewall or a proxy, since the reply is"
            " no API's): ask who runs it, or set another base_url"
        ) from None
    if status == 401 or (status == 403 and code not in _REFUSED_CODES):
        raise UserError(
            f"{options.base_url} does not accept the key (HTTP {status}): "
            f"put a valid one into the environment variable {options.api_key_env}"
        ) from None
    if status == 404:
        raise UserError(
            f"{options.base_url} knows no model {options.model!r} (HTTP 404): check model and base_url"
        ) from None
    if 300 <= status < 400:
        raise UserError(
            f"{options.base_url} redirects elsewhere (HTTP {status}): put the address it leads to into base_url"
        ) from None
    if status == 402 or code == "insufficient_quota":
        raise UserError(f"the account at {options.base_url} has no credit left (HTTP {status})") from None


def _asked_wait(error: openai.APIStatusError) -> float | None:
    """Seconds from ``retry-after-ms`` or ``retry-after``; None where absent or a date."""
    headers = error.response.headers
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) / unit)
        except (KeyError, ValueError):
            continue
    return None
