"""The composition root: builds the object graph from settings."""
