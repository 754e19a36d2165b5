"""Both benchmarks, one after the other: a machine that runs them side by side measures neither."""

from bench import export_time, throughput

export_time.main()
throughput.main()
