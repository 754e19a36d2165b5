"""numpy, and the libraries of tables and of science that build on it."""

from __future__ import annotations

from nbddp.analysis.library.ops import Effect, Op, Samples, Stream, Table

OPS: Table = {
    "numpy pandas scipy sklearn": Op(Effect.READS),
    "sklearn.set_config": Op(Effect.WORLD),
    "numpy.random.shuffle numpy.copyto numpy.put numpy.place numpy.putmask numpy.fill_diagonal "
    "numpy.put_along_axis": Op(Effect.CHANGES),
    "numpy.asarray numpy.array_split numpy.broadcast_to numpy.expand_dims numpy.swapaxes numpy.moveaxis "
    "numpy.atleast_1d numpy.atleast_2d numpy.diagonal numpy.rollaxis": Op(fresh=False),
    # Numbers.
    "numpy.array numpy.asarray numpy.float32 numpy.float64": Op(samples=Samples.KEEPS),
    "numpy.exp numpy.log numpy.log2 numpy.log10 numpy.log1p numpy.expm1 numpy.sqrt numpy.square numpy.power numpy.sin "
    "numpy.cos numpy.tan numpy.tanh numpy.arctan numpy.abs numpy.sign numpy.floor numpy.ceil numpy.round numpy.rint "
    "numpy.pi numpy.e numpy.inf scipy.constants": Op(numeric=True),
    "numpy.clip numpy.minimum numpy.maximum numpy.mod numpy.float32 numpy.float64": Op(numeric=True),
    "numpy.average": Op(samples=Samples.MEAN),
    "numpy.size": Op(samples=Samples.COUNT),
    "numpy.append numpy.delete numpy.take numpy.linspace numpy.logspace numpy.geomspace numpy.poly numpy.polyder "
    "numpy.polyint numpy.polymul": Op(samples=Samples.MIXES),
    "sklearn.metrics.accuracy_score sklearn.metrics.mean_squared_error sklearn.metrics.mean_absolute_error "
    "sklearn.metrics.log_loss sklearn.metrics.zero_one_loss sklearn.metrics.hamming_loss": Op(samples=Samples.SCORE),
    "numpy.zeros numpy.ones numpy.full numpy.empty": Op(makes="tensor"),
    "numpy.zeros numpy.ones numpy.full numpy.empty numpy.arange numpy.eye numpy.random.rand numpy.random.randn "
    "numpy.random.random numpy.random.random_sample numpy.random.ranf numpy.random.sample "
    "numpy.random.standard_normal numpy.random.standard_exponential numpy.random.standard_cauchy": Op(size=0),
    "numpy.random.choice numpy.random.exponential numpy.random.poisson numpy.random.geometric numpy.random.rayleigh "
    "numpy.random.chisquare numpy.random.standard_gamma numpy.random.standard_t": Op(size=1),
    "numpy.linspace numpy.random.randint numpy.random.integers numpy.random.normal numpy.random.uniform "
    "numpy.random.beta "
    "numpy.random.binomial numpy.random.gamma numpy.random.laplace numpy.random.logistic numpy.random.gumbel "
    "numpy.random.lognormal numpy.random.vonmises": Op(size=2),
    "numpy.random.triangular": Op(size=3),
    "numpy.arange": Op(counts=True),
    # Random numbers.
    "numpy.random": Op(makes="tensor", draws=Stream.NUMPY, chance=True),
    "numpy.random.default_rng numpy.random.Generator numpy.random.RandomState numpy.random.PCG64 numpy.random.MT19937 "
    "numpy.random.PCG64DXSM numpy.random.Philox numpy.random.SFC64 numpy.random.SeedSequence": Op(generator=True),
    "scipy.stats.qmc.LatinHypercube scipy.stats.qmc.Sobol scipy.stats.qmc.Halton scipy.stats.qmc.PoissonDisk "
    "scipy.stats.qmc.MultivariateNormalQMC scipy.stats.qmc.MultinomialQMC pyDOE.lhs pyDOE2.lhs pyDOE3.lhs "
    "pydoe.lhs": Op(draws=Stream.SYSTEM),  # each a stream of its own
    "numpy.random.seed": Op(Effect.WORLD, seeds=Stream.NUMPY),
    "sklearn": Op(draws=Stream.NUMPY),
    # Files.
    "numpy.save numpy.savez numpy.savetxt numpy.savez_compressed numpy.ndarray.tofile scipy.io.savemat "
    "scipy.io.wavfile.write scipy.sparse.save_npz sklearn.datasets.dump_svmlight_file pandas.to_pickle": Op(
        Effect.WRITES
    ),
    "sklearn.datasets.fetch_openml sklearn.datasets.fetch_california_housing sklearn.datasets.fetch_20newsgroups "
    "sklearn.datasets.fetch_olivetti_faces": Op(fetches=True),
    "numpy.load": Op(loads=True),
    "numpy.loadtxt numpy.genfromtxt numpy.fromfile scipy.io.loadmat scipy.io.wavfile.read scipy.sparse.load_npz "
    "pandas.read_csv pandas.read_table pandas.read_json pandas.read_excel pandas.read_pickle pandas.read_parquet "
    "pandas.read_feather pandas.read_hdf": Op(opens=True),
}
