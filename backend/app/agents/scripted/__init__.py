"""The scripted agent, for demonstrations and tests."""
