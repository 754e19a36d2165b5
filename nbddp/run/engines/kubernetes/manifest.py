"""The text that kubectl takes: a TrainJob, and for a script that is exported the script in a ConfigMap."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.start.command import JobOptions

LARGEST = 1_000_000  # bytes of a script: a ConfigMap holds 1 MiB
NAME = 50  # characters; those of pods get some more
WHERE = "/nbddp"  # where the script is in a pod
NOT_IN_A_BLOCK = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",  # else torchrun never comes back after a fault on two nodes
    "PYTHONUNBUFFERED": "1",
}


@dataclass(frozen=True)
class TrainJob:
    name: str
    job: JobOptions
    nproc: int  # on each node
    command: Sequence[str]
    environment: Mapping[str, str]
    config: str = ""  # the ConfigMap that is mounted, if one is

    @property
    def volumes(self) -> list[tuple[str, str, str]]:
        """Their names, what each is, and where it is mounted."""
        found = [("script", f"configMap: {{name: {self.config}}}", WHERE)] if self.config else []
        if self.job.volume:
            claim, _, path = self.job.volume.partition(":")
            found.append(("shared", f"persistentVolumeClaim: {{claimName: {claim}}}", path))
        return found


def kubernetes_name(stem: str) -> str:
    """One that Kubernetes takes: small letters, digits and dashes, a letter first."""
    name = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")
    return (name if name[:1].isalpha() else f"nb-{name}")[:NAME].strip("-")


def for_script(script: Path, text: str, nproc: int, job: JobOptions, *, checkpoints: bool) -> str:
    """Beside the script, to be read, changed, and given to kubectl; it needs no nbddp."""
    if len(text.encode()) > LARGEST:
        raise LaunchFailed("The script is too large for a ConfigMap, which holds 1 MiB: put it into an image.")
    name = kubernetes_name(script.stem.removesuffix("_ddp"))
    file = f"{job.volume.partition(':')[2] or '/tmp'}/{script.stem}.pt"  # beside the script nothing can be written
    again = ["--checkpoint", file, "--resume", "auto"] if checkpoints else []
    command = ["torchrun", "--max-restarts=3", f"{WHERE}/{script.name}", *again]
    made = TrainJob(name, job, nproc, command, ENVIRONMENT, f"{name}-script")
    return "\n".join(
        [
            f"# Trains {script.name} with {nproc} processes on each of {job.nodes} nodes, by Kubeflow Trainer 2:",
            f"#   kubectl create -f {script.stem}.yaml     kubectl logs -f -l jobset.sigs.k8s.io/jobset-name={name}",
            "# The image has to have the script's packages; data comes from the network, or from a volume.",
            "apiVersion: v1",
            "kind: ConfigMap",
            "metadata:",
            f"  name: {name}-script",
            "data:",
            *_block(script.name, text),
            "---",
            *_lines(made),
            "",
        ]
    )


def _block(name: str, text: str) -> Iterator[str]:
    """As it is, line for line, where YAML can hold it so."""
    if NOT_IN_A_BLOCK.search(text) or not text.endswith("\n") or text.endswith("\n\n") or text[:1].isspace():
        yield f"  {name}: {json.dumps(text)}"
        return
    yield f"  {name}: |"
    yield from (f"    {line}" if line else "" for line in text.split("\n")[:-1])


def _lines(made: TrainJob) -> Iterator[str]:
    job = made.job
    yield from (
        "apiVersion: trainer.kubeflow.org/v1alpha1",
        "kind: TrainJob",
        "metadata:",
        f"  name: {made.name}",
        "spec:",
        "  runtimeRef:",
        "    name: torch-distributed  # Kubeflow's own; it says how torchrun's processes find each other",
        "  trainer:",
    )
    yield from [f"    image: {json.dumps(job.image)}"] if job.image else []
    yield f"    numNodes: {job.nodes}"
    yield f"    numProcPerNode: {made.nproc}"
    if job.gpus:
        yield "    resourcesPerNode:"
        yield f'      limits: {{"nvidia.com/gpu": {job.gpus}}}'
    yield "    command:"
    yield from (f"      - {json.dumps(word)}" for word in made.command)
    yield "    env:"
    for name, value in made.environment.items():
        yield f"      - {{name: {name}, value: {json.dumps(value)}}}"
    yield from _patches(made)


def _patches(made: TrainJob) -> Iterator[str]:
    """What of the pods a TrainJob says by patching its runtime."""
    if not made.volumes:
        return
    yield from (
        "  runtimePatches:",
        "    - manager: nbddp/export",
        "      trainingRuntimeSpec:",
        "        template:",
        "          spec:",
        "            replicatedJobs:",
        "              - name: node",
        "                template:",
        "                  spec:",
        "                    template:",
        "                      spec:",
    )
    space = " " * 24
    yield f"{space}volumes:"
    for name, what, _ in made.volumes:
        yield f"{space}  - name: {name}"
        yield f"{space}    {what}"
    yield f"{space}containers:"
    yield f"{space}  - name: node"
    yield f"{space}    volumeMounts:"
    for name, _, path in made.volumes:
        yield f"{space}      - {{name: {name}, mountPath: {json.dumps(path)}}}"
