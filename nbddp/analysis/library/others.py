"""Libraries that show, log, save and fetch, and bars."""

from __future__ import annotations

from nbddp.analysis.library.ops import Effect, Gives, Op, Stream, Table

OPS: Table = {
    "psutil tqdm from_snapshot": Op(Effect.READS),
    "psutil": Op(chance=True),
    # What is only to be seen.
    "matplotlib seaborn plotly IPython bokeh altair torchsummary torchinfo torchviz tabulate mpl_toolkits graphviz "
    "netron missingno wordcloud google.colab": Op(Effect.READS, display=True),
    "torchsummary.summary torchsummary.torchsummary.summary torchinfo.summary": Op(draws=Stream.TORCH),  # its input
    "matplotlib.pyplot.savefig": Op(Effect.PICTURE),
    "matplotlib.pyplot.figure matplotlib.pyplot.subplots matplotlib.pyplot.subplot matplotlib.pyplot.subplot_mosaic "
    "matplotlib.pyplot.axes matplotlib.pyplot.gca matplotlib.pyplot.gcf matplotlib.pyplot.subplot2grid "
    "matplotlib.figure.Figure": Op(makes="drawing"),
    "rich.print tqdm.tqdm.write loguru.logger IPython.display.display": Op(out="shown"),
    "matplotlib.pyplot seaborn plotly bokeh altair": Op(out="shown"),
    # Bars.
    "tqdm.tqdm tqdm.trange rich.progress.track fastprogress.progress_bar fastprogress.master_bar tqdm.rich.tqdm "
    "alive_progress.alive_it tqdm.asyncio.tqdm": Op(gives=Gives.TURNS, fresh=False, bar=True),
    "tqdm.trange": Op(counts=True),
    "tqdm.pandas tqdm.tqdm.pandas tqdm.rich.tqdm.pandas": Op(Effect.WORLD),  # which gives tables a progress_apply
    # What keeps the numbers of a run.
    "wandb.log neptune.log_metric": Op(out="logged"),
    "mlflow trackio swanlab clearml tensorboard_logger": Op(out="kept"),  # they keep the run themselves, in silence
    "wandb.init": Op(makes="tracker"),
    "loguru.logger structlog.get_logger": Op(makes="logger"),
    "torch.utils.tensorboard.SummaryWriter tensorboardX.SummaryWriter torch.utils.tensorboard.writer visdom.Visdom "
    "neptune.init_run aim.Run comet_ml.Experiment": Op(makes="writer"),
    # Files.
    "joblib.dump yaml.dump yaml.safe_dump imageio.imwrite imageio.mimsave cv2.imwrite soundfile.write "
    "matplotlib.pyplot.imsave": Op(Effect.WRITES),
    "h5py.File": Op(makes="file"),
    "requests.get gdown nltk.download huggingface_hub wget.download kagglehub spacy.load gensim.downloader": Op(
        fetches=True
    ),
    "joblib.load": Op(loads=True),
    "PIL.Image.open imageio.imread imageio.v2.imread imageio.v3.imread cv2.imread skimage.io.imread soundfile.read "
    "matplotlib.pyplot.imread matplotlib.image.imread IPython.display.Image": Op(opens=True),
    "easydict.EasyDict": Op(makes="dict"),
}
