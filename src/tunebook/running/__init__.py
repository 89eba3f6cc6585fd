"""The loop: proposals, decisions, ingestion."""
