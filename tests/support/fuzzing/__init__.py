"""What both ways of fuzzing share: the table of targets, their seeds, how an input is changed, what must hold."""
