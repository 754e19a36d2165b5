"""Ray: a run as a Ray job, given to the cluster through its dashboard. Only processes in the job import ray."""
