"""Settings: every value that the operator can choose, read once at a composition root and handed down."""

import shlex
from pathlib import Path
from typing import Annotated

from pydantic import (
    AliasChoices,
    Field,
    SecretStr,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.core.outbound import Outbound
from app.schemas import defaults
from app.schemas.agents import AgentBackend, AgentName, OutputMode
from app.schemas.evaluation import CheckerName
from app.schemas.held_out import MAX_SHARE
from app.schemas.modes import (
    CandidateDependencies,
    ConfinementKind,
    CounterTestsMode,
    EnvironmentBuild,
    EnvironmentMode,
    InProcessOnly,
    ProjectFileMode,
    SandboxMode,
    UntestedCode,
)
from app.schemas.questions import BaseFailures, ProtectedPolicy
from app.schemas.runs import RetryContext

PositiveSeconds = Annotated[float, Field(gt=0, le=86_400)]
Days = Annotated[float, Field(gt=0, le=36_500)]
Hours = Annotated[float, Field(gt=0, le=87_600)]
UnitInterval = Annotated[float, Field(ge=0.0, le=1.0)]

_MIN_SECRET_CHARS = 8
_MAX_ATTEMPTS = AliasChoices("MAX_ATTEMPTS", "EVALUATOR_MAX_RETRIES")
_REACHED_AT = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - compared, not listened on
"""The address at which this machine reaches a service that listens on all addresses."""


class Settings(BaseSettings):
    """All settings; each is an environment variable of the same name, or a line in `.env`.

    Seconds are wall-clock time, thresholds are in [0, 1], and amounts are US dollars.
    """

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True)

    # Database
    DATABASE_URL: SecretStr | None = None
    DATABASE_POOL_SIZE: int = Field(default=10, ge=1, le=200)

    # Where the service keeps its files: the embedded Postgres, the git history of runs, working trees
    DATA_DIR: Path = Path(".phaserunner")

    # API
    HOST: str = "127.0.0.1"
    PORT: int = Field(default=8000, ge=0, le=65_535)
    ALLOWED_HOSTS: Annotated[list[str], NoDecode] = []
    PHASERUNNER_URL: str | None = None
    PHASERUNNER_TOKEN: SecretStr | None = None
    EVALUATION_CONCURRENCY: int = Field(default=2, ge=1, le=256)
    WORKER_CONCURRENCY: int = Field(default=4, ge=1, le=256)
    LOG_LEVEL: str = "INFO"

    # Hooks
    HOOK_STANDBY_SECONDS: float = Field(default=1800.0, ge=0.0, le=86_400.0)

    # Workspaces
    WORKSPACE_ROOTS: Annotated[list[Path], NoDecode] = []
    WORKSPACE_ALLOW_FILE_URLS: bool = False
    WORKSPACE_ALLOW_PRIVATE_URLS: bool = False
    WORKSPACE_MAX_FILES: int = Field(default=50_000, ge=1)
    WORKSPACE_MAX_BYTES: int = Field(default=1_000_000_000, ge=1)
    WORKSPACE_PYTHON: Path | None = None

    # Environments: the packages that a workspace declares, installed outside of it
    WORKSPACE_ENVIRONMENTS: EnvironmentMode = EnvironmentMode.AUTO
    ENVIRONMENT_NETWORK: bool = True
    ENVIRONMENT_BUILD: EnvironmentBuild = EnvironmentBuild.MISSING
    ENVIRONMENT_CANDIDATE_DEPENDENCIES: CandidateDependencies = CandidateDependencies.ASK
    ENVIRONMENT_SETUP_NETWORK: bool = False
    ENVIRONMENT_SECRETS: dict[str, SecretStr] = {}
    ENVIRONMENT_TIMEOUT: PositiveSeconds = 300.0
    ENVIRONMENT_MAX_BYTES: int = Field(default=10_000_000_000, ge=0)
    ENVIRONMENT_MAX_DAYS: float = Field(default=30.0, gt=0.0, le=36_500.0)

    # Sandbox in which the workspaces' tests and programs run
    SANDBOX: SandboxMode = SandboxMode.REQUIRED
    CONFINEMENT: ConfinementKind | None = None
    CONTAINER_ENGINE: str = ""
    CONTAINER_IMAGE: str | None = None
    SANDBOX_MEMORY_BYTES: int = Field(default=4_000_000_000, ge=100_000_000)
    SANDBOX_TEMPORARY_BYTES: int = Field(default=1_000_000_000, ge=10_000_000)
    SANDBOX_PROCESSES: int = Field(default=512, ge=16, le=100_000)
    SANDBOX_FILE_BYTES: int = Field(default=2_000_000_000, ge=1_000_000)
    SANDBOX_CGROUP: Path | None = None
    SANDBOX_READABLE: Annotated[list[Path], NoDecode] = []
    SANDBOX_EGRESS_ALLOW: Annotated[list[str], NoDecode] = []

    # Agents
    AGENT_BACKEND: AgentName = AgentBackend.AUTO
    AGENT_MODEL: str | None = None
    AGENTS_FILE: Path | None = None
    AGENTS_PATH: Annotated[list[Path], NoDecode] = []
    AGENT_LOGINS: Annotated[dict[str, Path], NoDecode] = {}
    AGENT_NETWORK: bool = False
    AGENT_TIMEOUT: PositiveSeconds = 1800.0
    AGENT_START_SECONDS: PositiveSeconds = 60.0
    AGENT_MAX_REQUESTS: int = Field(default=100, ge=1)
    AGENT_MAX_TOKENS: int | None = Field(default=None, ge=1)
    AGENT_RETRY_CONTEXT: RetryContext = RetryContext.FRESH
    AGENT_STUCK_CALLS: int | None = Field(default=8, ge=2, le=1000)
    AGENT_STUCK_SECONDS: PositiveSeconds | None = None
    AGENT_MAX_FAILURES: int = Field(default=4, ge=1, le=100)
    AGENT_RETRY_BASE_SECONDS: float = Field(default=2.0, ge=0.0, le=3600.0)
    ANTHROPIC_API_KEY: SecretStr | None = None
    ANTHROPIC_BASE_URL: str | None = None
    OPENAI_API_KEY: SecretStr | None = None
    OPENAI_BASE_URL: str | None = None
    GEMINI_API_KEY: SecretStr | None = None
    GEMINI_BASE_URL: str | None = None
    RUN_MAX_TOKENS: int | None = Field(default=None, ge=1)
    RUN_MAX_COST_USD: float | None = Field(default=None, gt=0.0, allow_inf_nan=False)
    BUDGET_DAY_USD: float | None = Field(default=None, gt=0.0, allow_inf_nan=False)
    BUDGET_PROJECT_DAY_USD: float | None = Field(default=None, gt=0.0, allow_inf_nan=False)
    MODEL_MAX_OUTPUT_TOKENS: int | None = Field(default=None, ge=1, le=10_000_000)
    MODEL_TEMPERATURE: float | None = Field(default=None, ge=0.0, le=2.0)
    MODEL_SILENCE_SECONDS: PositiveSeconds = 300.0
    MODEL_UNAVAILABLE_SECONDS: float = Field(default=600.0, ge=0.0, le=86_400.0)
    MODEL_RESET_WAIT_SECONDS: float = Field(default=86_400.0, ge=0.0, le=2_678_400.0)

    # Sprints
    SPRINT_HELD_OUT_SHARE: float = Field(default=0.0, ge=0.0, le=MAX_SHARE, allow_inf_nan=False)
    MAX_ATTEMPTS: int = Field(default=defaults.MAX_ATTEMPTS, ge=1, le=20, validation_alias=_MAX_ATTEMPTS)

    # Evaluators
    EVALUATOR_MODEL: str = defaults.MODEL
    EVALUATOR_FALLBACK_MODEL: str | None = None
    EVALUATOR_OUTPUT_MODE: OutputMode = "auto"
    EVALUATOR_RUN_DETERMINISTIC_ONLY: bool = False
    EVALUATOR_OUTSIDE: bool = True
    EVALUATOR_PROTECTED: ProtectedPolicy = ProtectedPolicy.ASK
    EVALUATOR_BASE_FAILURES: BaseFailures = BaseFailures.GOAL
    EVALUATOR_COUNTER_TESTS: CounterTestsMode = CounterTestsMode.GATE
    EVALUATOR_IN_PROCESS_ONLY: InProcessOnly = InProcessOnly.NOTE
    EVALUATOR_UNTESTED_CODE: UntestedCode = UntestedCode.NOTE
    EVALUATOR_LINT_TIMEOUT: PositiveSeconds = 30.0
    EVALUATOR_TYPE_CHECK_TIMEOUT: PositiveSeconds = 120.0
    EVALUATOR_TEST_TIMEOUT: PositiveSeconds = 120.0
    EVALUATOR_TEST_PROCESSES: int | None = Field(default=None, ge=1, le=256)
    EVALUATOR_LLM_TIMEOUT: PositiveSeconds = 60.0
    EVALUATOR_LLM_AT_ONCE: int | None = Field(default=None, ge=1, le=1000)
    EVALUATOR_SAFE_FIXES: bool = False
    EVALUATOR_TYPE_CHECKER: CheckerName = "mypy"
    EVALUATOR_PASS_THRESHOLD: UnitInterval = defaults.PASS_THRESHOLD
    EVALUATOR_BLOCKING_THRESHOLD: UnitInterval = defaults.BLOCKING_THRESHOLD
    EVALUATOR_PROJECT_FILE: ProjectFileMode = ProjectFileMode.HONOUR
    EVALUATOR_REQUIRED: Annotated[list[str], NoDecode] = ["protected_files"]
    EVALUATOR_COMMAND_NETWORK: bool = False
    EVALUATOR_PLUGINS: Annotated[list[str], NoDecode] = []

    # Answers: rules by domain, in addition to those that every answer must keep
    ANSWER_RULES_FILE: Path | None = None

    # Engine
    ENGINE_HEARTBEAT_SECONDS: float = Field(default=2.0, gt=0.0, le=60.0)
    ENGINE_STALLED_AFTER_SECONDS: float = Field(default=6.0, gt=0.0, le=600.0)
    ENGINE_RECONCILE_SECONDS: float = Field(default=2.0, gt=0.0, le=600.0)
    ENGINE_LEFTOVERS_SECONDS: float = Field(default=60.0, gt=0.0, le=86_400.0)
    SHUTDOWN_GRACE_SECONDS: float = Field(default=5.0, ge=0.0, le=300.0)
    WORKER_ALIVE_FILE: Path | None = None

    # Delivery of events to clients
    EVENT_MAX_CONNECTIONS: int = Field(default=4000, ge=1, le=100_000)
    EVENT_MAX_SUBSCRIPTIONS: int = Field(default=50, ge=1, le=10_000)
    EVENT_MAX_FRAME_BYTES: int = Field(default=16_384, ge=4096, le=1_000_000)
    EVENT_STALL_SECONDS: float = Field(default=10.0, gt=0.0, le=600.0)
    EVENT_MAX_LAG: int = Field(default=10_000, ge=1)
    EVENT_HEARTBEAT_SECONDS: float = Field(default=15.0, gt=0.0, le=600.0)
    EVENT_POLL_SECONDS: float = Field(default=1.0, gt=0.0, le=60.0)
    EVENT_RING_EVENTS: int = Field(default=512, ge=1, le=100_000)
    EVENT_RING_BYTES: int = Field(default=4_000_000, ge=1)

    # Escalations: after how many hours people are reminded; the last one repeats
    ESCALATION_REMINDER_HOURS: Annotated[list[Hours], NoDecode] = [24.0, 72.0]

    # Retention: days after the end of a run, and the total size of the snapshots of ended runs
    RETENTION_PROGRESS_DAYS: Days = 30.0
    RETENTION_SNAPSHOT_DAYS: Days = 180.0
    RETENTION_SNAPSHOT_BYTES: int = Field(default=20_000_000_000, ge=0)
    RETENTION_DIRECTORY_DAYS: Days = 7.0

    # Connections to other machines, by this process and all programs that it starts
    CA_BUNDLE: Path | None = None
    OUTBOUND_PROXY: SecretStr | None = None
    OUTBOUND_NO_PROXY: Annotated[list[str], NoDecode] = []

    # Webhooks: receivers of escalations, their reminders, and the ends of runs
    WEBHOOK_URLS: Annotated[list[str], NoDecode] = []
    WEBHOOK_SECRET: SecretStr | None = None
    WEBHOOK_ALLOW_PRIVATE: bool = False

    # Notifications: chats and e-mail for people
    NOTIFICATIONS_FILE: Path | None = None

    # Forges: credentials of sources, and the repositories whose issues and pull requests take part
    FORGES_FILE: Path | None = None

    # Tracing: spans leave the machine only if one of these is set
    LOGFIRE_TOKEN: SecretStr | None = None
    OTEL_EXPORTER_OTLP_ENDPOINT: str | None = None

    @field_validator(
        *("ALLOWED_HOSTS", "WORKSPACE_ROOTS", "SANDBOX_READABLE", "SANDBOX_EGRESS_ALLOW", "AGENTS_PATH"),
        *("EVALUATOR_REQUIRED", "EVALUATOR_PLUGINS"),
        *("ESCALATION_REMINDER_HOURS", "WEBHOOK_URLS", "OUTBOUND_NO_PROXY"),
        mode="before",
    )
    @classmethod
    def _split_commas(cls, value: object) -> object:
        if isinstance(value, str):
            parts = [part.strip() for part in value.split(",") if part.strip()]
            return [] if parts == ["none"] else parts
        return value

    @field_validator("CONTAINER_ENGINE")
    @classmethod
    def _check_words(cls, value: str) -> str:
        try:
            shlex.split(value)
        except ValueError as error:
            raise ValueError(f"not a command line: {error}") from error
        return value

    @field_validator("AGENT_LOGINS", mode="before")
    @classmethod
    def _split_pairs(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        logins: dict[str, str] = {}
        for pair in filter(None, (each.strip() for each in value.split(","))):
            name, equals, directory = (part.strip() for part in pair.partition("="))
            if not (name and equals and directory):
                raise ValueError("give AGENT=DIRECTORY, separated by commas")
            if name in logins:
                raise ValueError(f"{name} is named twice")
            logins[name] = directory
        return logins

    @field_validator("ENVIRONMENT_SECRETS")
    @classmethod
    def _can_be_masked(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, secret in value.items():
            if not name.isidentifier() or not name.isascii():
                raise ValueError(f"{name!r} is not the name of an environment variable")
            if len(secret.get_secret_value()) < _MIN_SECRET_CHARS or "\0" in secret.get_secret_value():
                raise ValueError(
                    f"{name} needs at least {_MIN_SECRET_CHARS} characters: less cannot be masked in output"
                )
        return value

    @field_validator("MAX_ATTEMPTS", mode="wrap")
    @classmethod
    def _name_both(cls, value: object, check: ValidatorFunctionWrapHandler) -> int:
        try:
            return check(value)
        except ValidationError as error:
            reason = error.errors()[0]["msg"]
            raise ValueError(f"{reason} (EVALUATOR_MAX_RETRIES is another name for it)") from error

    @field_validator("ESCALATION_REMINDER_HOURS")
    @classmethod
    def _ascending(cls, value: list[float]) -> list[float]:
        if value != sorted(set(value)):
            raise ValueError("give hours in ascending order")
        return value

    @property
    def service_url(self) -> str:
        """Return the URL that the command line asks: PHASERUNNER_URL, else this machine's HOST and PORT."""
        host = _REACHED_AT.get(self.HOST, self.HOST)
        return self.PHASERUNNER_URL or f"http://{f'[{host}]' if ':' in host else host}:{self.PORT}"

    @property
    def outbound(self) -> Outbound:
        """Return the settings for connections to other machines."""
        proxy = self.OUTBOUND_PROXY.get_secret_value() if self.OUTBOUND_PROXY else None
        return Outbound(self.CA_BUNDLE, proxy, self.OUTBOUND_NO_PROXY)

    @property
    def EVALUATOR_MAX_RETRIES(self) -> int:  # noqa: N802 - a setting's name
        """Return `MAX_ATTEMPTS` under its former name."""
        return self.MAX_ATTEMPTS
