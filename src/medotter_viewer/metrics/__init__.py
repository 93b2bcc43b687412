"""Arrays in, numbers out: no case, no file, no rule about what an empty structure is worth."""
