"""The questions of the playbook, each a function of the evidence."""
