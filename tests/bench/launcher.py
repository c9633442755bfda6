"""Runs a program to its end and writes what it took to a file: for `measured.child` alone.

`python -I -S launcher.py FILE PROGRAM WORD...`. The system counts the memory of the process that
started a program into the program's own peak. So a small process starts it: this one, which
imports next to nothing.
"""

import json
import os
import sys
import time

if __name__ == "__main__":
    _, file, *command = sys.argv
    began = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    wall_s = time.perf_counter() - began
    cpu_s = usage.ru_utime + usage.ru_stime
    with open(file, "w", encoding="ascii") as took:  # noqa: PTH123  (pathlib is large)
        json.dump([os.waitstatus_to_exitcode(status), cpu_s, usage.ru_maxrss, wall_s], took)
