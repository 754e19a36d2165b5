"""What the libraries' names make."""

from __future__ import annotations

import pytest

from nbddp.analysis.library import constructors as names


@pytest.mark.parametrize(
    ("question", "yes", "no"),
    [
        (names.makes_optimizer, ["torch.optim.SGD", "bitsandbytes.optim.Adam8bit"],
         ["torch.optim.lr_scheduler.StepLR", "torch.optim.swa_utils", "torch.nn.Linear"]),
        (names.makes_scheduler, ["torch.optim.lr_scheduler.StepLR", "transformers.get_linear_schedule_with_warmup"],
         ["torch.optim.Adam", "torch.optim.lr_scheduler", "helpers.get_loader"]),
        (names.makes_loss, ["torch.nn.MSELoss", "torch.nn.NLLLoss2d"],
         ["torch.nn.functional.mse_loss", "torch.nn.Linear"]),
        (names.makes_model, ["torch.nn.Linear", "torchvision.models.resnet18", "transformers.BertForMaskedLM",
                             "transformers.AutoModel.from_pretrained", "timm.create_model"],
         ["torch.nn.functional.relu", "torch.nn.init.ones_", "torch.nn.Parameter", "torch.nn.utils.clip_grad_norm_",
          "torchvision.models.ResNet18_Weights.DEFAULT", "transformers.AutoTokenizer.from_pretrained"]),
        (names.makes_sampler, ["torch.utils.data.WeightedRandomSampler"],
         ["torch.utils.data.Subset", "helpers.Sampler"]),
        (names.makes_dataset, ["torchvision.datasets.MNIST", "torch.utils.data.random_split", "datasets.load_dataset"],
         ["torch.utils.data.default_collate", "torchvision.transforms.ToTensor"]),
        (names.is_mean_loss, ["torch.nn.functional.mse_loss"], ["torch.nn.functional.relu", "helpers.mse_loss"]),
        (names.is_random, ["torch.randn", "torch.distributions.Normal"], ["torch.zeros", "numpy.zeros"]),
        (names.is_chance, ["random.random", "time.time", "os.listdir", "torch.rand"], ["os.path.join", "math.sqrt"]),
        (names.is_factory, ["torch.zeros", "numpy.random.rand", "torch.randn"], ["torch.sum", "helpers.zeros"]),
        (names.learns, ["torch.nn.Linear", "torch.nn.PReLU", "helpers.ReLU"], ["torch.nn.ReLU", "torch.nn.MaxPool2d"]),
        (names.is_class, ["torch.nn.Linear", "Net"], ["torch.nn.functional", "make"]),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)  # fmt: skip
def test_names(question, yes, no):
    assert [name for name in yes if not question(name)] == []
    assert [name for name in no if question(name)] == []


def test_what_makes_an_optimizer_makes_nothing_else():
    for name in ("torch.optim.SGD", "torch.optim.AdamW"):
        assert not any(makes(name) for makes in (names.makes_scheduler, names.makes_model, names.makes_loss))


def test_what_hands_on_one_thing_is_not_taken_for_several():
    assert not names.SAME & names.ZIPS - {"itertools.chain"}
