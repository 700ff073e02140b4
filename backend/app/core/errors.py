"""The tree of errors, each with the HTTP status and the machine-readable code of its rendering."""

from collections.abc import Mapping
from typing import Any, ClassVar


class PhaseRunnerError(Exception):
    """An error with a message for the user.

    The API renders it as RFC 9457 problem details, the CLI as one line.

    Attributes:
        status: HTTP status code.
        code: stable identifier, the last part of the problem type URI.
        title: one short sentence that is the same for every occurrence.
        field: path of the input field at fault (`"source.path"`), if there is one.
        extra: further members of the problem document.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal-error"
    title: ClassVar[str] = "The service failed"

    def __init__(self, detail: str, *, field: str | None = None, **extra: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.field = field
        self.extra: Mapping[str, Any] = extra


class InvalidInputError(PhaseRunnerError):
    """A given value cannot be used."""

    status = 422
    code = "invalid-input"
    title = "The input is not valid"


class NotFoundError(PhaseRunnerError):
    """The named thing does not exist."""

    status = 404
    code = "not-found"
    title = "Not found"


class ConflictError(PhaseRunnerError):
    """The thing's present state does not allow this."""

    status = 409
    code = "conflict"
    title = "The state has changed"


class PayloadTooLargeError(PhaseRunnerError):
    """The request is larger than the limit."""

    status = 413
    code = "too-large"
    title = "The request is too large"


class UnsupportedMediaTypeError(PhaseRunnerError):
    """The body is in an unsupported format."""

    status = 415
    code = "unsupported-media-type"
    title = "The format is not read here"


class UnauthorizedError(PhaseRunnerError):
    """The request carries no valid credentials."""

    status = 401
    code = "unauthorized"
    title = "Authentication is required"


class ForbiddenError(PhaseRunnerError):
    """The request comes from a forbidden origin, or lacks the role."""

    status = 403
    code = "forbidden"
    title = "Not allowed"


class TooManyRequestsError(PhaseRunnerError):
    """The same address sends too many requests."""

    status = 429
    code = "too-many-requests"
    title = "Too many requests"


class UnavailableError(PhaseRunnerError):
    """Something that the service depends on cannot be reached."""

    status = 503
    code = "unavailable"
    title = "Temporarily unavailable"
    retry_after: ClassVar[int] = 1


class BusyError(UnavailableError):
    """The service already does as much of this at once as it may."""

    code = "busy"
    title = "Too much at once"
    retry_after = 5


class WorkspaceError(PhaseRunnerError):
    """A repository or working tree cannot be used; the message says why."""

    status = 422
    code = "workspace"
    title = "The workspace cannot be used"


class DiskFullError(PhaseRunnerError):
    """The disk has no space left for the data."""

    status = 507
    code = "disk-full"
    title = "The disk is full"


class DatabaseSetupError(PhaseRunnerError):
    """Postgres cannot be provided; the message says why and what to do."""

    status = 503
    code = "database-setup"
    title = "The database cannot be started"
