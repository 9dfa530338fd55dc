"""Algorithms over stores that are passed in. They print nothing and read no clock."""
