"""Names of the libraries' functions by which values leave the program: shown, logged, written."""

from __future__ import annotations

LEVELS = "debug info warning warn error critical exception log".split()
SHOWS = frozenset({"print", "tqdm.tqdm.write", "warnings.warn", "sys.stdout.write", "sys.stderr.write", "pprint.pprint",
                   "pprint.pp", "rich.print", *(f"logging.{level}" for level in LEVELS)})  # fmt: skip
LOGS = frozenset({"wandb.log", "neptune.log_metric"})
BAR_METHODS = frozenset(
    "set_postfix set_description set_postfix_str set_description_str update comment write_table".split()
)
OPENS = ("open", "io.open", "gzip.open", "bz2.open", "lzma.open", "codecs.open", "zipfile.ZipFile", "tarfile.open",
         "h5py.File")  # fmt: skip
LOGGERS = ("logging.getLogger", "logging.Logger", "loguru.logger", "structlog.get_logger")
TRACKERS = ("wandb.init",)
SILENCED = ("mlflow", "trackio", "swanlab", "clearml")  # modules that keep the run themselves
WRITES = ("torch.save", "numpy.save", "numpy.savez", "numpy.savetxt", "numpy.savez_compressed", "json.dump",
          "pickle.dump", "joblib.dump", "torchvision.utils.save_image", "matplotlib.pyplot.savefig", "shutil.rmtree",
          "torch.onnx.export", "torch.jit.save", "os.remove", "os.rename", "os.replace", "shutil.move", "shutil.copy",
          "shutil.copyfile", "shutil.copytree", "shutil.make_archive", "imageio.imwrite", "imageio.mimsave",
          "cv2.imwrite", "os.rmdir", "os.unlink", "matplotlib.pyplot.imsave", "yaml.dump", "yaml.safe_dump",
          "safetensors.torch.save_file", "torchaudio.save", "scipy.io.savemat", "scipy.io.wavfile.write",
          "numpy.ndarray.tofile", "torchvision.io.write_png", "torchvision.io.write_jpeg",
          "soundfile.write", "scipy.sparse.save_npz", "sklearn.datasets.dump_svmlight_file", "pandas.to_pickle",
          "torchvision.io.write_video", "torchvision.io.write_file", "torch.export.save")  # fmt: skip
# Which no program reads again: it goes with the cells that only show something.
PICTURES = frozenset({"matplotlib.pyplot.savefig"})
