"""All benchmarks, one after the other: a machine that runs them side by side measures none."""

from bench import chips, export_time, first_step, in_kernel, on_slurm, slices, throughput

export_time.main()
chips.main()
first_step.main()
throughput.main()
slices.main()
in_kernel.main()
on_slurm.main()
