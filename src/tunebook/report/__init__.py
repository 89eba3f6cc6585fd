"""One report from findings, pictures and the guide."""
