"""Where a bug's program runs: apart from the network, the files and the processes of the host."""
