"""`python -m mcp_anyrev`: the command line."""

from mcp_anyrev.cli.main import main

main()
