"""Runs and forges: issues that become runs, deliveries that are worked, reports that go out."""
