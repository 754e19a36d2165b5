"""Each scene played: `make test-all` has them all, `make test` one that is refused at once."""

from __future__ import annotations

import pytest

from tests.faults.scenes import SCENES, Scene
from tests.faults.stage import play

QUICK = ("an option that is none",)


def test_scenes_have_names_of_their_own():
    assert len({scene.name for scene in SCENES}) == len(SCENES) >= 66


@pytest.mark.parametrize("scene", [scene for scene in SCENES if scene.name in QUICK], ids=lambda scene: scene.name)
def test_a_quick_scene(scene: Scene, tmp_path, helper):
    assert play(scene, tmp_path, helper).wrong == ""


@pytest.mark.thorough
@pytest.mark.parametrize("scene", [scene for scene in SCENES if scene.name not in QUICK], ids=lambda scene: scene.name)
def test_a_scene(scene: Scene, tmp_path, helper):
    played = play(scene, tmp_path, helper)
    assert played.wrong == "", played.output[-3000:]
