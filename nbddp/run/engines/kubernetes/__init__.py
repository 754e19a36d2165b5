"""Kubernetes: a training as a TrainJob of Kubeflow Trainer 2, in a file, or given to the cluster by kubectl."""
