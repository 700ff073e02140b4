"""The parts and steps of director-evaluator loops."""
