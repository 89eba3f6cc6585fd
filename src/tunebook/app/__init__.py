"""What people use: the command line and the functions behind it."""
