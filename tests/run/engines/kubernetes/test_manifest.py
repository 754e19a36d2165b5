"""The file for kubectl, against the schema that Kubeflow publishes: nothing in it that the cluster would not know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from nbddp.run.engines.kubernetes.manifest import for_script, kubernetes_name
from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.start.command import JobOptions

SCHEMA = Path(__file__).with_name("trainjob_schema.yaml")
TEXT = '"""Trains."""\n\nif True:\n    print("é: {}", 1)\n'


def strict(schema: Any) -> Any:
    """A cluster drops fields that it does not know, without a word; here they are errors."""
    if isinstance(schema, dict):
        closed = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
        return {**{name: strict(part) for name, part in schema.items()}, **closed}
    return schema


def written(text: str = TEXT, checkpoints: bool = False, name: str = "x_ddp.py", **job: Any) -> tuple[Any, Any]:
    config, train = yaml.safe_load_all(for_script(Path(name), text, 4, JobOptions(**job), checkpoints=checkpoints))
    jsonschema.validate(train["spec"], strict(yaml.safe_load(SCHEMA.read_text())["spec"]))
    return config, train


@pytest.mark.parametrize(
    "job", [{}, {"nodes": 2, "gpus": 4, "image": "me/x:1", "volume": "data:/shared"}, {"gpus": 0, "volume": "data:/s"}]
)
def test_it_is_what_the_schema_wants(job):
    config, train = written(checkpoints=True, **job)
    assert (train["apiVersion"], train["kind"]) == ("trainer.kubeflow.org/v1alpha1", "TrainJob")
    assert train["spec"]["trainer"]["numNodes"] == job.get("nodes", 1)
    assert config["data"] == {"x_ddp.py": TEXT}


def test_a_field_that_there_is_not_is_seen():
    schema = strict(yaml.safe_load(SCHEMA.read_text())["spec"])
    with pytest.raises(jsonschema.ValidationError, match="numNode"):
        jsonschema.validate({"runtimeRef": {"name": "x"}, "trainer": {"numNode": 1}}, schema)


@pytest.mark.parametrize("text", [TEXT, " x = 1\n", "x = 1", "x = 1\n\n", "s = '\x07'\n", "a = 1\n\n\n  # b \nc = 2\n"])
def test_the_script_is_in_it_byte_for_byte(text):
    assert written(text)[0]["data"]["x_ddp.py"] == text


def test_pods_find_it_where_it_is_mounted_and_write_where_they_can():
    config, train = written(checkpoints=True)
    assert train["spec"]["trainer"]["command"][2:5] == ["/nbddp/x_ddp.py", "--checkpoint", "/tmp/x_ddp.pt"]
    command = written(checkpoints=True, volume="data:/shared")[1]["spec"]["trainer"]["command"]
    assert command[2:5] == ["/nbddp/x_ddp.py", "--checkpoint", "/shared/x_ddp.pt"]
    pods = train["spec"]["runtimePatches"][0]["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"][0]
    pod = pods["template"]["spec"]["template"]["spec"]
    assert pod["volumes"] == [{"name": "script", "configMap": {"name": config["metadata"]["name"]}}]


def test_what_a_config_map_does_not_hold_is_refused():
    with pytest.raises(LaunchFailed, match="too large for a ConfigMap"):
        written("x" * 1_100_000)


@pytest.mark.parametrize(
    ("stem", "name"), [("My Net_2", "my-net-2"), ("2nd", "nb-2nd"), ("é", "nb"), ("a" * 80, "a" * 50)]
)
def test_names(stem, name):
    assert kubernetes_name(stem) == name
