"""Values, formulas and errors. Standard library only: no I/O, no clock."""
