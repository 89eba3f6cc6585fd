"""What a study holds, written for other tools: CSV, Parquet and JSON."""
