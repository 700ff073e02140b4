"""The prompts of agents."""
