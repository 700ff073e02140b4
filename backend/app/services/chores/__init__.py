"""Recurring work beside the runs: takeover, deletion, reminders and webhooks."""
