"""The launcher as text; the words in capitals stand for what depends on the notebook."""

FUNCTIONS = ("run", "spawned", "free_port", "main")

TEMPLATE = '''\
def run(rank, local_rank, world_size, args):
    """Train as one of the processes."""
    SET_PARAMETERS
    if rank > 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # one process speaks for all
    SET_UP
    SEED
    TRAIN
    dist.barrier()  # gloo's threads let go of the last tensors first (pytorch/pytorch#179291)
    dist.destroy_process_group()


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
    FIND_CHECKPOINT
    CHECK_BATCHES
    if "RANK" in os.environ:  # started by torchrun
        run(int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"]), args)
    else:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, torch.get_num_threads() // args.nproc)))
        mp.spawn(spawned, args=(HANDED), nprocs=args.nproc)


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

FIND_CHECKPOINT = """\
    again = (os.environ.get(name, "0") for name in ("TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT"))
    if os.path.exists(args.checkpoint) and (args.resume == "auto" or set(again) != {"0"}):  # started anew after a fault
        args.resume = args.checkpoint
    elif args.resume == "auto":
        args.resume = None
    elif os.path.exists(args.checkpoint) and args.resume is None and os.environ.get("RANK", "0") == "0":
        print(f"{args.checkpoint} is there and will be overwritten; --resume auto would go on from it")
"""

FIND_PLACE = """\
    if int(os.environ.get("SLURM_STEP_NUM_TASKS", "1")) > 1 and "RANK" not in os.environ:  # started by srun
        os.environ.update(RANK=os.environ["SLURM_PROCID"], LOCAL_RANK=os.environ["SLURM_LOCALID"])
        os.environ.update(WORLD_SIZE=os.environ["SLURM_STEP_NUM_TASKS"])
        nodes = subprocess.check_output(["scontrol", "show", "hostnames", os.environ["SLURM_STEP_NODELIST"]], text=True)
        os.environ.setdefault("MASTER_ADDR", nodes.split()[0])
        os.environ.setdefault("MASTER_PORT", str(20000 + int(os.environ["SLURM_JOB_ID"]) % 20000))
"""

FIND_PLACE_OF_MACHINE = """\
        os.environ["LOCAL_WORLD_SIZE"] = os.environ["SLURM_STEP_TASKS_PER_NODE"].partition("(")[0].partition(",")[0]
"""

HASH_ALIKE = """\
    hash_alike()
"""
