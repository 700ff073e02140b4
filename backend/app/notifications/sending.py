"""Sends notices: to chats over HTTPS, and as e-mail over SMTP. Both return the receiver's reply."""

import asyncio
import smtplib
import ssl
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from email.message import EmailMessage
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx
from anyio import to_thread

from app.core.addresses import can_be_host
from app.core.certificates import trusted_authorities
from app.core.security import is_loopback
from app.core.tracing import untraced
from app.notifications.notice import line_of
from app.notifications.operator_file import MailServer
from app.webhooks.sending import WebhookError

TIMEOUT_SECONDS = 20.0

_MAX_ANSWER_BYTES = 2_000
_MAX_ANSWER_CHARS = 300
_MAX_RETRY_AFTER = 6 * 3600.0


@dataclass(frozen=True, slots=True)
class ReceiverReply:
    """A receiver's reply. `code` is an HTTP or SMTP status."""

    code: int
    text: str


OpenClient = Callable[[], httpx.AsyncClient]


def chat_client() -> httpx.AsyncClient:
    """Make a client for one message; it uses the proxies of the environment and follows no redirects."""
    return httpx.AsyncClient(
        timeout=TIMEOUT_SECONDS, follow_redirects=False, trust_env=True, verify=trusted_authorities()
    )


async def post_to_chat(open_client: OpenClient, url: str, body: dict[str, Any]) -> ReceiverReply:
    """Send a message to a chat's incoming webhook.

    Raises:
        WebhookError: the address cannot be used, the chat cannot be reached, or its reply is not 2xx.
    """
    _check(url)
    try:
        with untraced():
            async with (
                asyncio.timeout(TIMEOUT_SECONDS),
                open_client() as client,
                client.stream("POST", url, json=body) as response,
            ):
                answer = ReceiverReply(response.status_code, await _text(response))
                retry_after = response.headers.get("retry-after", "")
    except TimeoutError as error:
        raise WebhookError(f"no answer within {TIMEOUT_SECONDS:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        # The text of an error may contain the address, which is a secret.
        raise WebhookError(f"the chat cannot be reached: {type(error).__name__}") from error
    if not 200 <= answer.code < 300:
        raise WebhookError(f"answered {answer.code}: {answer.text}", retry_after=_seconds(retry_after))
    return answer


async def send_mail(
    server: MailServer, password: str | None, to: Sequence[str], message: EmailMessage
) -> ReceiverReply:
    """Pass an e-mail to the server, for all of its receivers or none.

    Raises:
        WebhookError: the server cannot be reached or trusted, or refuses; the text contains its reply.
    """
    return await to_thread.run_sync(partial(_send_mail, server, password, to, message))


def _send_mail(
    server: MailServer, password: str | None, to: Sequence[str], message: EmailMessage
) -> ReceiverReply:
    try:
        with closing(_connect(server)) as connection:
            if server.username is not None and password is not None:
                connection.login(server.username, password)
            _accepted("the sender", connection.mail(server.sender))
            for each in to:
                _accepted(each, connection.rcpt(each))
            code, said = connection.data(message.as_bytes())
            _accepted("the message", (code, said))
            # The server has the message, whatever it says to the end of the conversation.
            with suppress(smtplib.SMTPException, OSError):
                connection.quit()
            return ReceiverReply(code, _line(said))
    except smtplib.SMTPResponseException as error:
        said = error.smtp_error
        raise WebhookError(f"{server.host} answered {error.smtp_code}: {_line(said)}") from error
    except UnicodeError as error:  # its text may contain a part of the password
        raise WebhookError("username, password and addresses of e-mail must be ASCII") from error
    except (smtplib.SMTPException, OSError) as error:
        raise WebhookError(
            f"{server.host}:{server.port}: {line_of(str(error), _MAX_ANSWER_CHARS)}"
        ) from error


def _connect(server: MailServer) -> smtplib.SMTP:
    place = (server.host, server.port)
    if server.security == "none":
        return smtplib.SMTP(*place, timeout=TIMEOUT_SECONDS)
    context = ssl.create_default_context()
    if server.authorities is not None:
        context.load_verify_locations(cafile=server.authorities)
    if server.security == "tls":
        return smtplib.SMTP_SSL(*place, timeout=TIMEOUT_SECONDS, context=context)
    connection = smtplib.SMTP(*place, timeout=TIMEOUT_SECONDS)
    try:
        connection.starttls(context=context)
    except BaseException:
        connection.close()
        raise
    return connection


def _accepted(what: str, answer: tuple[int, bytes]) -> None:
    code, said = answer
    if not 200 <= code < 300:
        raise smtplib.SMTPResponseException(code, f"{what}: {_line(said)}")


def _line(said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return line_of(text, _MAX_ANSWER_CHARS)


def _check(url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise WebhookError("the address of the receiver is not a URL") from error
    here = parts.scheme == "http" and is_loopback(parts.hostname or "")
    if not (parts.scheme == "https" or here) or not parts.hostname:
        raise WebhookError("the address of the receiver must begin with https://")
    if not can_be_host(parts.hostname):
        raise WebhookError("the address of the receiver has no valid host name")


async def _text(response: httpx.Response) -> str:
    found = b""
    async for part in response.aiter_bytes(_MAX_ANSWER_BYTES):
        found += part
        if len(found) >= _MAX_ANSWER_BYTES:
            break
    return line_of(found.decode("utf-8", "replace"), _MAX_ANSWER_CHARS)


def _seconds(retry_after: str) -> float | None:
    try:
        return min(max(float(retry_after), 0.0), _MAX_RETRY_AFTER)
    except ValueError:
        return None
