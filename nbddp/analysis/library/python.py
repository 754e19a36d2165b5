"""Python's own functions and its library, files and folders among them."""

from __future__ import annotations

import builtins

from nbddp.analysis.library.ops import Effect, Gives, Op, Samples, Stream, Table

_EXCEPTIONS = (n for n, v in vars(builtins).items() if isinstance(v, type) and issubclass(v, BaseException))
_LEVELS = "debug info warning warn error critical exception log".split()

# By their whole names: what belongs to one of them, such as `list.append`, is a method.
BUILTINS: Table = {
    "len type isinstance issubclass id hash repr str int float bool list tuple dict set frozenset sorted reversed "
    "range enumerate zip map filter sum min max abs round any all iter next getattr hasattr callable ord chr divmod "
    "pow slice super object bytes complex format input print display help dir vars pprint": Op(Effect.READS),
    " ".join(_EXCEPTIONS): Op(Effect.READS),
    "list tuple dict set frozenset sorted reversed enumerate zip map filter iter next getattr vars super min max "
    "memoryview": Op(fresh=False),
    "print display help dir vars pprint": Op(display=True),
    "print display": Op(out="shown"),
    "sorted set filter": Op(gives=Gives.ITSELF),
    "enumerate iter reversed list tuple": Op(gives=Gives.TURNS),
    "zip": Op(gives=Gives.SOME, beside=True),
    "float int round abs str": Op(samples=Samples.KEEPS),
    "sum": Op(samples=Samples.SUM),
    "min max pow": Op(numeric=True),
    "open": Op(makes="file"),
    "reversed enumerate zip map filter iter open": Op(once=True),
    "dict": Op(makes="dict"),
    "range": Op(counts=True),
    "len": Op(about="size"),
}

OPS: Table = {
    "math copy time datetime collections itertools functools os.path pathlib re string glob typing operator statistics "
    "sys.getsizeof platform json.dumps os.listdir os.cpu_count os.getcwd os.getenv os.environ.get dataclasses timeit "
    "inspect": Op(Effect.READS),
    "math": Op(numeric=True),
    "random.shuffle heapq bisect operator.setitem operator.delitem operator.iadd operator.iconcat operator.isub "
    "operator.imul operator.ior operator.iand operator.itruediv": Op(Effect.CHANGES),
    "functools.partial itertools.chain itertools.islice itertools.cycle itertools.zip_longest collections.defaultdict "
    "collections.deque copy.copy": Op(fresh=False),
    "itertools.islice itertools.cycle itertools.zip_longest": Op(gives=Gives.SOME),
    "itertools.chain": Op(gives=Gives.TURNS),
    "itertools.count": Op(counts=True),
    "itertools csv.reader csv.DictReader os.walk os.scandir io.open gzip.open": Op(once=True),
    "copy.copy copy.deepcopy": Op(samples=Samples.KEEPS),
    "copy.deepcopy": Op(copies=True),
    "statistics.mean statistics.fmean": Op(samples=Samples.MEAN),
    "argparse.ArgumentParser": Op(makes="parser"),
    "collections.deque": Op(makes="list"),
    "collections.OrderedDict collections.defaultdict collections.Counter argparse.Namespace types.SimpleNamespace": Op(
        makes="dict"
    ),
    # Random numbers, the clock and the machine.
    "random": Op(draws=Stream.PYTHON, chance=True),
    "random.Random": Op(generator=True),
    "random.sample": Op(size=1),
    "random.seed": Op(Effect.WORLD, seeds=Stream.PYTHON),
    "secrets uuid os.urandom tempfile.mkdtemp tempfile.mktemp": Op(draws=Stream.SYSTEM),
    "uuid time datetime.datetime.now datetime.datetime.today timeit.default_timer": Op(chance=True),
    "os.path.exists os.path.isfile os.path.isdir os.path.getsize os.path.getmtime os.listdir os.scandir os.walk "
    "glob.glob glob.iglob": Op(chance=True, looks=True),
    "time datetime.datetime.now datetime.datetime.today datetime.datetime.utcnow datetime.date.today "
    "timeit.default_timer uuid secrets os.urandom os.getpid": Op(clock=True),
    # What leaves the program.
    "warnings.warn sys.stdout.write sys.stderr.write pprint.pprint pprint.pp": Op(out="shown"),
    " ".join(f"logging.{level}" for level in _LEVELS): Op(out="shown"),
    "pprint": Op(Effect.READS, display=True),
    "logging.getLogger logging.Logger": Op(makes="logger"),
    "csv.writer csv.DictWriter": Op(makes="writer"),
    # Files.
    "io.open gzip.open bz2.open lzma.open codecs.open zipfile.ZipFile tarfile.open": Op(makes="file"),
    "logging.FileHandler logging.handlers.RotatingFileHandler logging.handlers.TimedRotatingFileHandler": Op(
        makes="log file"
    ),
    "json.dump pickle.dump shutil.rmtree shutil.move shutil.copy shutil.copyfile shutil.copytree shutil.make_archive "
    "os.remove os.rename os.replace os.rmdir os.unlink": Op(Effect.WRITES),
    "os.system os.popen subprocess shutil.unpack_archive shutil.copyfileobj": Op(unpacks=True),
    "urllib.request.urlretrieve urllib.request.urlopen": Op(fetches=True),
    "pickle.load json.load": Op(loads=True),
}
