"""The parts and steps of checked answers."""
