"""References to secrets in the operator's documents."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

from app.core.credentials import SecretPlace

_Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class SecretReference(BaseModel):
    """Where a secret is: `env` names an environment variable, `file` a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    env: _Variable | None = None
    file: Path | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.env is None) == (self.file is None):
            raise ValueError("give either env or file")
        return self

    @property
    def place(self) -> SecretPlace:
        """Return the place of the secret for `Credentials`."""
        return SecretPlace(variable=self.env, file=self.file)
