"""What a project's `phaserunner.toml` says about the needs of its commands: a set-up, and services."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from app.schemas.project_values import Argument, Directory, Glob, Name, Seconds, SecretNames, Table

MAX_SERVICES = 8

Line = Annotated[Argument, Field(min_length=1, max_length=4000)]


class ServiceTable(Table):
    """A program that runs beside each command, on the loopback of the command's sandbox."""

    name: Name = Field(description="Unique among the services.")
    run: Line = Field(description="A command for `sh -c` that stays in the foreground.")
    ready: Line = Field(description="A command for `sh -c` that exits with 0 once the service responds.")
    timeout: Seconds = Field(default=30.0, description="Seconds until it must be ready.")


class EnvironmentTable(Table):
    """The preparation for the project's commands. It runs in the sandbox, at the base commit."""

    setup: list[Line] = Field(
        default=[],
        max_length=16,
        description="Commands for `sh -c`; they run once per state of the lock files.",
    )
    lock_files: list[Glob] = Field(
        default=[], max_length=50, description="More files whose changes make the set-up run again."
    )
    network: bool = Field(default=False, description="The operator must allow it.")
    secrets: SecretNames = Field(default=[], description="Variables that the operator sets, for the set-up.")
    timeout: Seconds = Field(default=600.0, description="Seconds for the whole set-up.")
    working_directory: Directory = Field(default="", description="Below the project's root.")
    service: list[ServiceTable] = Field(default=[], max_length=MAX_SERVICES)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        names = [each.name for each in self.service]
        if twice := next((each for each in names if names.count(each) > 1), None):
            raise ValueError(f"service {twice!r} is defined twice")
        if not self.setup and (self.network or self.secrets or self.lock_files):
            raise ValueError("network, secrets and lock_files need a setup")
        return self
