"""All benchmarks, one after the other: a machine that runs them side by side measures none."""

from bench import export_time, first_step, in_kernel, throughput

export_time.main()
first_step.main()
throughput.main()
in_kernel.main()
