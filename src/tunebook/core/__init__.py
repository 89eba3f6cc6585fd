"""The nouns of the playbook as frozen values, and the protocols between the parts. No I/O."""
