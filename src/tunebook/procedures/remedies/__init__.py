"""The probes of warm-up and clipping: from the edge of stability to a remedy that pays."""
