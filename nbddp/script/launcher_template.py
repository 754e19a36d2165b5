"""The launcher as text; the words in capitals stand for what depends on the notebook."""

TEMPLATE = '''\
def run_rank(options):
    """One of the processes; the environment says which, in torchrun's words."""
    SET_GLOBALS
    rank, local_rank, world_size = (int(os.environ[name]) for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"))
    quiet_other_ranks(rank)
    end_workers_with_this_process()
    try:
        rank_device, backend = own_device(local_rank)
        dist.init_process_group(options.backend or backend)
        report_rank(rank_device)
        seed_everything(options.seed)
        train(rank, world_size, rank_device)
        report("end")
    except BaseException as error:
        report_error(error)
        raise
    time.sleep(0.1)  # gloo's threads let go of the last tensors, which takes Python; torch would not wait for that
    dist.destroy_process_group()


def spawned(local_rank, options, start_method):
    """What main starts as a process of this machine; it ends when main does."""
    mp.set_start_method(start_method, force=True)  # for workers of a DataLoader: in here, "spawn" would be the default
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for main
    threading.Thread(target=end_with_parent, daemon=True).start()
    os.environ.update(RANK=str(local_rank), LOCAL_RANK=str(local_rank))
    run_rank(options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ADD_OWN
    ADD_PARAMETERS
    options = parser.parse_args()
    CHECK_SNAPSHOT
    as_torchrun_does()
    hash_alike(options.seed)
    if "RANK" in os.environ:  # started by torchrun or srun
        run_rank(options)
        return
    if options.nproc < 1:
        parser.error("--nproc: at least one process has to train")
    os.environ.update(WORLD_SIZE=str(options.nproc), LOCAL_WORLD_SIZE=str(options.nproc))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, torch.get_num_threads() // options.nproc)))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends this process at once, and with it the others
    try:
        mp.spawn(spawned, args=(options, mp.get_start_method()), nprocs=options.nproc)
    except mp.ProcessExitedException as error:
        if error.exit_code < 0:  # killed
            raise
        sys.exit(error.exit_code)  # it has said why


if __name__ == "__main__":
    main()
'''

CHECK_SNAPSHOT = """\
    if not os.path.exists(options.snapshot or ""):
        parser.error("--snapshot PATH: a run from the notebook leaves {} there, as snapshot.pt in its folder")
"""
