"""The MCP server: PhaseRunner as tools and resources of an agent."""
