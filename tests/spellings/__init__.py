"""One program in many spellings: each prints on several ranks what one process prints, or has its report."""
