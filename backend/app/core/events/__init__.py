"""The events of a run: one module for each topic, with the payloads and the event classes together."""
