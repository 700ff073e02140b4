"""The built-in agent, which works with a language model and a few tools."""
