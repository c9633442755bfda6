"""What the logs of a run say: tracebacks, aborts of native code, matches of a pattern."""
