"""The launcher as text; the words in capitals stand for what depends on the notebook."""

FUNCTIONS = ("run", "spawned", "free_port", "main")

TEMPLATE = '''\
def run(rank, local_rank, world_size, args):
    """Train as one of the processes."""
    SET_PARAMETERS
    SET_CHECKPOINTS
    if rank > 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # one process speaks for all
    SET_UP
    SEED
    TRAIN
    LET_GO
    dist.barrier()  # gloo's threads let go of the last tensors first (pytorch/pytorch#179291)
    LEAVE


def spawned(SPAWNED):
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # on Ctrl-C, or when main has gone, end at once
    SET_PLACE
    SET_METHOD
    run(rank, rank, args.nproc, args)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ADD_OWN
    ADD_PARAMETERS
    args = parser.parse_args()
    CHECK_SNAPSHOT
    HASH_ALIKE
    FIND_PLACE
    CHECK_PLACE
    FIND_CHECKPOINT
    CHECK_BATCHES
    if "RANK" in os.environ:  # started by torchrun
        run(int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"]), args)
    else:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, torch.get_num_threads() // args.nproc)))
        SPAWN


if __name__ == "__main__":
    main()
'''

EARLY = "import torch.distributed.nn  # before there is a group: imported later, by DDP, its defaults would keep it"

ON_GPUS = """\
    if torch.cuda.is_available():
        device = torch.device("cuda", local_rank % torch.cuda.device_count())
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", rank=rank, world_size=world_size, device_id=device)
    else:
        device = torch.device("cpu")
        dist.init_process_group("gloo", rank=rank, world_size=world_size)
"""

ON_CPUS = """\
    device = torch.device("cpu")
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
"""

CONNECT = """\
    connect(rank, world_size)
"""

JOIN = """\
    met = dist.is_initialized()  # Ray, say, has made the processes' group, and ends it
"""

LET_GO = """\
    gc.collect()  # such models hold themselves, and the group: its threads end where nobody has it any more
"""

LEAVE = """\
    dist.destroy_process_group()
"""

LEAVE_MET = """\
    if not met:
        dist.destroy_process_group()
"""

SPAWN = """\
        mp.spawn(spawned, args=(HANDED), nprocs=args.nproc)
"""

SPAWN_AND_JOIN = """\
        join_all(mp.spawn(spawned, args=(HANDED), nprocs=args.nproc, join=False))
"""

SET_CHECKPOINTS = """\
    checkpoints.file, checkpoints.resume = args.checkpoint, args.resume
    SET_EVERY
    checkpoints.listen()
"""

SET_EVERY = """\
    checkpoints.every, checkpoints.unit = args.checkpoint_every
"""

TRAIN = """\
    train(rank, world_size, device)
"""

TRAIN_WITH_BARS = """\
    with open(os.devnull, "w") as silent, redirect_stderr(silent if rank > 0 else sys.stderr):  # one draws the bars
        train(rank, world_size, device)
"""

SEED_TORCH = """\
    torch.manual_seed(args.seed)  # all processes build the same data and weights
"""

SEED = """\
    seed_everything(args.seed)
"""

PLACE = """\
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
    os.environ.update(WORLD_SIZE=str(args.nproc), LOCAL_WORLD_SIZE=str(args.nproc))
"""

METHOD = """\
    mp.set_start_method(method, force=True)  # for the workers of a DataLoader: "spawn" would be the default in here
"""

CHECK_SNAPSHOT = """\
    if not os.path.exists(args.snapshot or ""):
        parser.error("--snapshot PATH: a run from the notebook leaves {} there, as snapshot.pt in its folder")
"""

ADD_CHECKPOINTS = """\
    own = os.path.splitext(__file__)[0] + ".pt"
    parser.add_argument("--checkpoint", metavar="PATH", default=own, help="written after each epoch")
    parser.add_argument("--resume", metavar="PATH", help="go on from this one; auto: from --checkpoint, if it is there")
"""

ADD_EVERY = """\
    every = "10m, 90s or 2h, or 500 (batches): one within an epoch, too; 3e: only after every third epoch"
    parser.add_argument("--checkpoint-every", metavar="10m", type=interval, default="1e", help=every)
"""

FIND_CHECKPOINT = """\
    if os.environ.get("RANK", "0") == "0":  # which reads and writes for all
        args.resume = find_checkpoint(args.checkpoint, args.resume)
"""

CHECK_PLACE = """\
    if dist.is_initialized():
        os.environ.update(RANK=str(dist.get_rank()), WORLD_SIZE=str(dist.get_world_size()))
        os.environ.setdefault("LOCAL_RANK", "0")
    elif "RANK" in os.environ:
        check_address()
    if "RANK" in os.environ and "OMP_NUM_THREADS" not in os.environ and "SLURM_CPUS_PER_TASK" in os.environ:
        torch.set_num_threads(int(os.environ["SLURM_CPUS_PER_TASK"]))  # else each process takes every core
"""

FIND_PLACE = """\
    if int(os.environ.get("SLURM_STEP_NUM_TASKS", "1")) > 1 and "RANK" not in os.environ:  # started by srun
        os.environ.update(RANK=os.environ["SLURM_PROCID"], LOCAL_RANK=os.environ["SLURM_LOCALID"])
        os.environ.update(WORLD_SIZE=os.environ["SLURM_STEP_NUM_TASKS"])
        os.environ["LOCAL_WORLD_SIZE"] = os.environ["SLURM_STEP_TASKS_PER_NODE"].partition("(")[0].partition(",")[0]
        os.environ.setdefault("SLURM_CPUS_PER_TASK", "1")  # as srun has it where nobody says
        nodes = subprocess.check_output(["scontrol", "show", "hostnames", os.environ["SLURM_STEP_NODELIST"]], text=True)
        os.environ.setdefault("MASTER_ADDR", nodes.split()[0])
        os.environ.setdefault("MASTER_PORT", str(20000 + int(os.environ["SLURM_JOB_ID"]) % 20000))
"""

HASH_ALIKE = """\
    hash_alike()
"""
