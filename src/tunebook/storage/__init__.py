"""Remember studies, attempts and events; give back results."""
