"""The command line: argv, environment, clock and terminal. Doors translate and print; they do not decide."""
