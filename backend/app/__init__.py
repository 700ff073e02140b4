"""PhaseRunner: runs coding agents unattended and lets only good work through."""
