"""`make bench`: everything in this folder, one after the other."""

from __future__ import annotations

from benchmarks import client_cpu, generator_time, idle_streams, import_cost, server_cpu, stdio_cpu, stores

if __name__ == "__main__":
    for part in (import_cost, generator_time, server_cpu, client_cpu, stdio_cpu, idle_streams, stores):
        part.main()
        print()
