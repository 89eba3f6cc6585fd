"""The reference training loop: the playbook's good practice, readable in one sitting."""
