"""The settings without a file, for commands that judge a project."""

from pydantic_settings import SettingsConfigDict

from app.core.config import Settings


class EnvironmentSettings(Settings):
    """The settings of environment variables alone, where a `.env` must not count."""

    model_config = SettingsConfigDict(env_file=None)
