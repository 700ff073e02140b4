"""Creates, lists, revokes and recognises API tokens; only their digests are stored."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy import or_, select, update
from sqlalchemy.exc import IntegrityError

from app.core.errors import ConflictError, InvalidInputError, NotFoundError
from app.core.security import Principal, Role, digest_of, new_token
from app.db.engine import Sessions
from app.db.models import ApiToken

# Recent enough for people who look at the list, and rare enough that requests with one token do not wait for
# each other's updates.
_USE_NOTED_EVERY = timedelta(minutes=1)


class TokenView(BaseModel):
    """A token as lists show it, without its secret."""

    id: UUID
    name: str
    role: Role
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


class TokenNeed:
    """Tells whether requests must carry a token: from the first valid token on, as long as the process runs.

    Tokens stay required after all of them are revoked: revoking every token must not make everyone an admin.

    Args:
        tokens: tells whether there is a valid token, as long as there was none.
        needed: whether there was a valid token when the process started.
    """

    def __init__(self, tokens: "TokenService", *, needed: bool) -> None:
        self._tokens = tokens
        self._needed = needed

    async def __call__(self) -> bool:
        """Return whether requests must carry a token."""
        self._needed = self._needed or await self._tokens.any_valid()
        return self._needed


class TokenService:
    """Manages tokens."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def create(self, name: str, role: str) -> str:
        """Create a token and return its secret, which cannot be shown again.

        Raises:
            InvalidInputError: the name is empty, longer than 100 characters or not printable,
                or there is no such role.
            ConflictError: the name is taken.
        """
        cleaned = name.strip()
        if not cleaned or len(cleaned) > 100 or not cleaned.isprintable():
            raise InvalidInputError("use 1 to 100 printable characters", field="name")
        if role not in list(Role):
            raise InvalidInputError(f"{role!r} is none of {', '.join(Role)}", field="role")
        token = new_token()
        try:
            async with self._sessions.begin() as session:
                session.add(ApiToken(name=cleaned, role=Role(role), digest=digest_of(token)))
        except IntegrityError as error:
            raise ConflictError(f"there is a token named {cleaned!r} already", field="name") from error
        return token

    async def list(self) -> list[TokenView]:
        """Return every token, oldest first."""
        async with self._sessions() as session:
            rows = await session.scalars(select(ApiToken).order_by(ApiToken.created_at))
            return [
                TokenView(
                    id=row.id,
                    name=row.name,
                    role=Role(row.role),
                    created_at=row.created_at,
                    last_used_at=row.last_used_at,
                    revoked_at=row.revoked_at,
                )
                for row in rows
            ]

    async def revoke(self, name: str) -> None:
        """Make a token invalid at once.

        Raises:
            NotFoundError: there is no valid token of that name.
        """
        statement = (
            update(ApiToken)
            .where(ApiToken.name == name, ApiToken.revoked_at.is_(None))
            .values(revoked_at=datetime.now(UTC))
            .returning(ApiToken.id)
        )
        async with self._sessions.begin() as session:
            if (await session.execute(statement)).scalar_one_or_none() is None:
                raise NotFoundError(f"there is no valid token named {name!r}")

    async def any_valid(self) -> bool:
        """Return whether at least one token is valid."""
        async with self._sessions() as session:
            statement = select(ApiToken.id).where(ApiToken.revoked_at.is_(None)).limit(1)
            return await session.scalar(statement) is not None

    async def recognise(self, token: str) -> Principal | None:
        """Return the principal that a token stands for, or None if the token is not valid."""
        now = datetime.now(UTC)
        mine = (ApiToken.digest == digest_of(token), ApiToken.revoked_at.is_(None))
        unnoted = or_(ApiToken.last_used_at.is_(None), ApiToken.last_used_at < now - _USE_NOTED_EVERY)
        async with self._sessions.begin() as session:
            found = (await session.execute(select(ApiToken.name, ApiToken.role).where(*mine))).one_or_none()
            if found is None:
                return None
            await session.execute(update(ApiToken).where(*mine, unnoted).values(last_used_at=now))
        return Principal(found.name, Role(found.role))
