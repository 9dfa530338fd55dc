"""One module a command. Each holds ``command``; the table in `memidx/doors/cli.py` names them."""
