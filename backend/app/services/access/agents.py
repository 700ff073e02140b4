"""Lists the agents that can work here, and what the others lack."""

from dataclasses import dataclass

import anyio.to_thread

from app.agents.external.roster import InstalledAgent
from app.agents.provider import AgentProvider
from app.core.errors import InvalidInputError
from app.schemas.agents import AgentBackend, AgentSpec
from app.schemas.api.agents import AgentList, AgentView
from app.workspaces.confine.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class AgentService:
    """Lists agents. Programs come and go, so each call looks for them again."""

    agents: AgentProvider
    sandbox: Sandbox

    def require_known(self, spec: AgentSpec) -> None:
        """Refuse a spec that names an agent unknown here; an agent that is not ready yet is no error.

        Raises:
            InvalidInputError: there is no such agent; the error names the field.
        """
        is_list = not isinstance(spec.candidates, int)
        for index, each in enumerate(spec.each()):
            unknown = self.agents.unknown(each)
            if unknown is not None:
                field = f"agent.candidates.{index}.agent" if is_list else "agent.backend"
                raise InvalidInputError(unknown, field=field)

    def require_model(self, spec: AgentSpec, kind: str) -> None:
        """Refuse an agent that cannot play the roles of a loop or an answer, which models play.

        Args:
            spec: the agent that the run asks for.
            kind: the kind of run in the plural, for the message.

        Raises:
            InvalidInputError: the agent does not exist, is an installed program, or is
                one of several candidates.
        """
        self.require_known(spec)
        if not isinstance(spec.candidates, int) or spec.candidates > 1:
            raise InvalidInputError(f"{kind} have one agent", field="agent.candidates")
        name = spec.backend
        if not isinstance(name, AgentBackend):
            choices = "choose auto, pydantic-ai or scripted"
            told = f"{name} works on sprints only, and {kind} are written by models: {choices}"
            raise InvalidInputError(told, field="agent.backend")

    async def all(self) -> AgentList:
        """Return every agent with its state."""
        state = await self.sandbox.state()
        unconfined = None if state.allowed else state.detail
        installed = self.agents.installed
        found = await anyio.to_thread.run_sync(installed.describe_all) if installed is not None else []
        default = self.agents.resolve(AgentBackend.AUTO)
        own = [self._own(each, str(default)) for each in self.agents.own_agents()]
        return AgentList(items=[*own, *(_view(each, str(default), unconfined) for each in found)])

    def _own(self, name: str, default: str) -> AgentView:
        model, missing = self.agents.state_of(name)
        return AgentView(
            name=name,
            kind="scripted" if self.agents.backends[name].is_script else "built-in",
            ready=missing is None,
            missing=missing,
            is_default=name == default,
            model=model,
            driver=None,
            dialect=None,
            network=None,
            version=None,
            tried=None,
        )


def _view(agent: InstalledAgent, default: str, unconfined: str | None) -> AgentView:
    missing = agent.missing or unconfined
    return AgentView(
        name=agent.name,
        kind="installed",
        ready=missing is None,
        missing=missing,
        is_default=agent.name == default,
        model=agent.model,
        driver=agent.driver.value,
        dialect=agent.dialect.value,
        network=agent.network.value,
        version=agent.version,
        tried=agent.tried,
    )
