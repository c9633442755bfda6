"""What is put into the sandbox: seeds, a few files of /etc, and a clean environment."""

from __future__ import annotations

from pathlib import Path

HARNESS = Path(__file__).parent / "harness"  # /harness inside
ETC = Path(__file__).parent / "etc"  # made-up files of /etc
HOME = "/home/bug"
WORKSPACE = "/bug"
THREADS = 2  # of a numerical library: the same on every host, for sums depend on it


def variables(seed: int, device: str = "cpu") -> dict[str, str]:
    """The whole environment of a run. `device` is 'cpu', or what CUDA_VISIBLE_DEVICES shall say.

    Nothing of the host's environment is in it: no tokens, no proxies, no paths.
    """
    threads = str(THREADS)
    return {
        "CUDA_VISIBLE_DEVICES": "" if device == "cpu" else device,
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # sums on a GPU in the same order every time
        "FAULTATLAS_SEED": str(seed),
        "HOME": HOME,
        "KMP_WARNINGS": "0",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "LOGNAME": "bug",
        "MKL_NUM_THREADS": threads,
        "MPLBACKEND": "Agg",
        "NUMEXPR_NUM_THREADS": threads,
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": str(seed % 2**32),
        "PYTHONIOENCODING": "utf-8",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": "/harness",
        "PYTHONUNBUFFERED": "1",
        "SHELL": "/bin/sh",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "TF_CUDNN_DETERMINISTIC": "1",  # TF_DETERMINISTIC_OPS makes programs without seeds fail
        "TMPDIR": "/tmp",  # noqa: S108  (inside, where it is private)
        "TZ": "UTC",
        "USER": "bug",
    }
