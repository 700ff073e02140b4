"""Says how long the next infusion has to steep."""
