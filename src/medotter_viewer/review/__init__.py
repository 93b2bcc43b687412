"""What readers say of cases: records, the file they are appended to, and the agreement of two readers."""
