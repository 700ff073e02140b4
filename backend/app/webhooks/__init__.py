"""Messages to other services: what they may be addressed to, how they are signed, and how they are sent."""
