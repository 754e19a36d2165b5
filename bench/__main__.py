"""All benchmarks, one after the other: a machine that runs them side by side measures none."""

from bench import export_time, in_kernel, throughput

export_time.main()
throughput.main()
in_kernel.main()
