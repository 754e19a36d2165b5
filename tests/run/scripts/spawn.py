"""Starts a process without torch; both write down their stacks when they are asked."""

import multiprocessing
import os
import signal


def work():
    os.kill(os.getpid(), signal.SIGRTMAX - 7)
    print("in the child")


if __name__ == "__main__":
    os.kill(os.getpid(), signal.SIGRTMAX - 7)
    process = multiprocessing.get_context("spawn").Process(target=work)
    process.start()
    process.join()
