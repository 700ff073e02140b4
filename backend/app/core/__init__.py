"""What all other packages need: settings, events, errors, credentials and telemetry."""
