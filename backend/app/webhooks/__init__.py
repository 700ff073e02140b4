"""Messages to other services: allowed addresses, signatures and sending."""
