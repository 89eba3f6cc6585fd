"""The data of each picture as a value, then its drawing."""
