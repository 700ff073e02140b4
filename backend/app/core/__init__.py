"""What the whole program needs to know about itself: settings, events, errors, telemetry."""
