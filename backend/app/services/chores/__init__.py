"""Recurring work beside the runs: takeover, deletion, reminders, notifications and webhooks."""
