"""Skips agents that are not installed, with the reason."""

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.composition.agents import list_agents
from app.core.config import Settings

PROGRAM = Path(sys.executable).parent / "phaserunner"


def agents_path() -> Mapping[str, str]:
    """The setting that says where agents are installed; empty if they are where all programs are."""
    known = os.environ.get("AGENTS_PATH")
    return {"AGENTS_PATH": known} if known else {}


def demand(agent: str) -> str:
    """Skip the test unless an agent is installed."""
    places = [Path(each) for each in agents_path().get("AGENTS_PATH", "").split(",") if each]
    key = SecretStr("k")
    settings = Settings(AGENTS_PATH=places, OPENAI_API_KEY=key, ANTHROPIC_API_KEY=key, GEMINI_API_KEY=key)
    found = asyncio.run(list_agents(settings))
    (state,) = [each for each in found.items if each.name == agent]
    if not state.ready:
        pytest.skip(f"{agent}: {state.missing}")
    return agent
