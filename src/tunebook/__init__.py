"""tunebook: the Deep Learning Tuning Playbook as a program."""
