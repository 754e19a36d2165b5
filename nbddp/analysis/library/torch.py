"""torch, and the libraries around it that make models, data sets, losses and optimizers."""

from __future__ import annotations

from nbddp.analysis.library.ops import Effect, Gives, Op, Samples, Stream, Table

OPS: Table = {
    "torch torchvision torchmetrics einops transformers.AutoTokenizer": Op(Effect.READS),
    # What no name shows.
    "torch.manual_seed torch.random.manual_seed torch.cuda.manual_seed torch.cuda.manual_seed_all": Op(
        seeds=Stream.TORCH
    ),
    "lightning.seed_everything pytorch_lightning.seed_everything transformers.set_seed": Op(seeds=Stream.ANY),
    "torch.manual_seed torch.cuda.manual_seed torch.cuda.manual_seed_all torch.seed torch.random torch.set_* "
    "torch.nn.module.register_* torch.optim.optimizer.register_* "
    "torch.cuda.set_device torch.cuda.empty_cache torch.use_deterministic_algorithms torch.backends torch.distributed "
    "torch.autograd.set_detect_anomaly torch.multiprocessing torch.hub.set_dir torch.utils.tensorboard": Op(
        Effect.WORLD
    ),
    "torchvision.datasets.utils torch.hub.download_url_to_file": Op(Effect.WORLD),
    "torch.nn.utils torch.nn.init": Op(Effect.CHANGES),
    # What it shares with what it is given; classes hold theirs, whatever is said here.
    "torch.from_numpy torch.as_tensor torch.asarray torch.compile torch.jit.script torch.jit.trace torch.movedim "
    "torch.swapaxes torch.tensor_split torch.unbind torch.narrow torch.diagonal torch.broadcast_to torch.real "
    "torch.utils.data.random_split torch.nn.SyncBatchNorm.convert_sync_batchnorm torch._dynamo.optimize": Op(
        fresh=False
    ),
    "torch.compile torch.jit.script torch.jit.trace torch.nn.DataParallel torch._dynamo.optimize "
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm torch.nn.parallel.DistributedDataParallel "
    "opacus.grad_sample.GradSampleModule": Op(gives=Gives.ITSELF),
    # Numbers.
    "torch.tensor torch.as_tensor torch.from_numpy torch.FloatTensor torch.Tensor torch.autograd.Variable torch.detach "
    "torch.real torch.nan_to_num": Op(samples=Samples.KEEPS),
    "torch.utils.checkpoint.checkpoint": Op(calls=True),
    "torch.nn.functional.cross_entropy torch.nn.functional.mse_loss torch.nn.functional.l1_loss "
    "torch.nn.functional.smooth_l1_loss torch.nn.functional.huber_loss torch.nn.functional.nll_loss "
    "torch.nn.functional.binary_cross_entropy torch.nn.functional.binary_cross_entropy_with_logits "
    "torch.nn.functional.kl_div torch.nn.functional.cosine_embedding_loss torch.nn.functional.hinge_embedding_loss "
    "torch.nn.functional.margin_ranking_loss torch.nn.functional.multi_margin_loss "
    "torch.nn.functional.multilabel_margin_loss torch.nn.functional.multilabel_soft_margin_loss "
    "torch.nn.functional.poisson_nll_loss torch.nn.functional.gaussian_nll_loss torch.nn.functional.soft_margin_loss "
    "torch.nn.functional.triplet_margin_loss torch.nn.functional.triplet_margin_with_distance_loss "
    "torch.nn.functional.ctc_loss": Op(samples=Samples.LOSS),
    "torch.nn.CrossEntropyLoss torch.nn.NLLLoss torch.nn.functional.cross_entropy torch.nn.functional.nll_loss": Op(
        by_class=True
    ),
    "torch.nn.functional.cosine_embedding_loss torch.nn.functional.margin_ranking_loss "
    "torch.nn.functional.triplet_margin_loss torch.nn.functional.triplet_margin_with_distance_loss "
    "torch.nn.functional.gaussian_nll_loss torch.nn.CosineEmbeddingLoss torch.nn.MarginRankingLoss "
    "torch.nn.TripletMarginLoss torch.nn.TripletMarginWithDistanceLoss torch.nn.GaussianNLLLoss": Op(rows=3),
    "torch.nn.functional.ctc_loss torch.nn.CTCLoss": Op(rows=4),
    "torch.nn.MSELoss torch.nn.L1Loss torch.nn.SmoothL1Loss torch.nn.HuberLoss": Op(aligned=True),
    "torch.autograd.grad": Op(samples=Samples.SLOPES),
    "torch.allclose torch.equal numpy.allclose numpy.array_equal": Op(samples=Samples.MIXES),
    "torchvision.utils.make_grid": Op(samples=Samples.MIXES),
    "torch.zeros torch.ones torch.full torch.empty torch.rand torch.randn torch.randperm torch.arange torch.eye": Op(
        size=0
    ),
    "torch.randint torch.linspace torch.normal": Op(size=2),
    "torch.arange": Op(counts=True),
    "torch.nn.utils.rnn.pack_padded_sequence torch.nn.utils.rnn.pack_sequence": Op(packs=True),
    "torch.nn.utils.rnn.pad_packed_sequence": Op(fills=True),
    "torch.nn.functional.batch_norm torch.nn.BatchNorm1d torch.nn.BatchNorm2d torch.nn.BatchNorm3d": Op(batch=True),
    "torch.nn.Linear torch.nn.Conv1d torch.nn.Conv2d torch.nn.Conv3d torch.nn.ConvTranspose1d torch.nn.ConvTranspose2d "
    "torch.nn.BatchNorm1d torch.nn.BatchNorm2d torch.nn.LayerNorm torch.nn.GroupNorm torch.nn.Dropout torch.nn.ReLU "
    "torch.nn.LeakyReLU torch.nn.ELU torch.nn.GELU torch.nn.SiLU torch.nn.Tanh torch.nn.Sigmoid torch.nn.Softplus "
    "torch.nn.Identity torch.nn.MaxPool1d torch.nn.MaxPool2d torch.nn.AvgPool2d torch.nn.AdaptiveAvgPool2d "
    "torch.nn.Softmax torch.nn.LogSoftmax torch.nn.functional.linear torch.nn.functional.conv1d "
    "torch.nn.functional.conv2d torch.nn.functional.max_pool2d torch.nn.functional.avg_pool2d": Op(as_many=True),
    "torch.nn.RNN torch.nn.LSTM torch.nn.GRU torch.nn.Transformer torch.nn.TransformerEncoderLayer "
    "torch.nn.TransformerDecoderLayer torch.nn.MultiheadAttention": Op(sequence=True),
    "torch.nn.TransformerEncoder torch.nn.TransformerDecoder": Op(copies=True),
    "torch.nn.RNN torch.nn.LSTM torch.nn.GRU torch.nn.RNNCell torch.nn.LSTMCell torch.nn.GRUCell": Op(state=True),
    "torch.zeros torch.ones torch.full torch.empty torch.Tensor torch.FloatTensor torch.LongTensor": Op(makes="tensor"),
    "torch.empty": Op(chance=True),  # what lies there
    "torch.rand torch.randn torch.randint torch.randperm torch.rand_like torch.randn_like torch.randint_like "
    "torch.normal torch.bernoulli torch.multinomial torch.poisson torch.binomial torch.distributions": Op(
        makes="tensor", draws=Stream.TORCH
    ),
    "torch.nn.init torch.utils.data.random_split torch.nn.functional.gumbel_softmax": Op(draws=Stream.TORCH),
    "torch.cuda.memory_allocated torch.cuda.max_memory_allocated torch.cuda.memory_reserved "
    "torch.cuda.mem_get_info": Op(chance=True),
    # Files.
    "torch.save torch.onnx.export torch.jit.save torch.export.save torchvision.utils.save_image torchaudio.save "
    "torchvision.io.write_png torchvision.io.write_jpeg torchvision.io.write_video torchvision.io.write_file "
    "safetensors.torch.save_file": Op(Effect.WRITES),
    "torch.hub torchvision.datasets.utils torchtext.vocab timm.create_model datasets.load_dataset": Op(fetches=True),
    "torch.load": Op(loads=True),
    "torch.jit.load safetensors.torch.load_file torchvision.io.read_image torchaudio.load": Op(opens=True),
    # Things.
    "torch.nn torchvision.ops einops.layers.torch": Op(classes="model"),
    "torch.nn.functional torch.nn.init torch.nn.utils torch.nn.ParameterList torch.nn.ParameterDict": Op(classes=""),
    "torch.nn.Parameter": Op(makes="parameter"),
    "torchvision.models timm.create_model timm.models torch.hub.load segmentation_models_pytorch efficientnet_pytorch "
    "torch_geometric.nn pretrainedmodels monai.networks diffusers.UNet2DModel ultralytics kan facenet_pytorch": Op(
        makes="model"
    ),
    "torchvision.models.get_weight torchvision.models.list_models": Op(makes=""),
    "torch.optim torch_optimizer transformers.AdamW transformers.Adafactor lion_pytorch bitsandbytes.optim timm.optim "
    "adabelief_pytorch apex.optimizers": Op(classes="optimizer"),
    "torch.optim.lr_scheduler timm.scheduler transformers.optimization": Op(classes="scheduler"),
    "torchvision.datasets torch.utils.data torchaudio.datasets torchtext.datasets datasets.Dataset "
    "datasets.DatasetDict datasets.IterableDataset datasets.arrow_dataset datasets.dataset_dict "
    "datasets.iterable_dataset": Op(classes="dataset"),
    "torchvision.datasets.ImageFolder torchvision.datasets.DatasetFolder": Op(loads=True),
    "torch.utils.data.IterableDataset": Op(classes="iterable dataset"),
    "datasets.load_dataset": Op(makes="dataset"),
    "torch.utils.data.random_split": Op(makes="split"),
    "torch.amp.GradScaler torch.GradScaler": Op(makes="scaler"),
    "torch_geometric dgl torch_sparse torch_scatter": Op(graph=True),
    "torch.device": Op(makes="device"),
    "torch.Generator": Op(generator=True),
    "torch.no_grad torch.inference_mode torch.autograd.no_grad": Op(makes="no gradients"),
    "torchmetrics": Op(classes="metric"),
    "torchmetrics.Accuracy torchmetrics.MeanSquaredError torchmetrics.MeanAbsoluteError": Op(scores=True),
}
