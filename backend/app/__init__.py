"""PhaseRunner: lets coding agents work unattended and only lets good work through."""
