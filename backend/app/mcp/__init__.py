"""The MCP server: PhaseRunner as tools and resources for agents."""
