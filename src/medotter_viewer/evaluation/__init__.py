"""From the scores of many cases to the numbers of a report."""
