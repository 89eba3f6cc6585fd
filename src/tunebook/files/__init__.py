"""Files that survive a crash: atomic files and folders, checksummed spools, locks."""
