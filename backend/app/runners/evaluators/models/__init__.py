"""The material and questions for models, and the verdicts computed from their answers."""
