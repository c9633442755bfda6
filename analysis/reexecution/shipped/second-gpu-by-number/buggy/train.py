"""Looks for the GPU to train on, and takes the processor where there is no driver."""

import ctypes

import numpy as np

NUMBER = 1  # the fast one


def device(number):
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "the processor"
    if driver.cuInit(0) != 0:
        return "the processor"
    handle = ctypes.c_int()
    code = driver.cuDeviceGet(ctypes.byref(handle), number)
    if code != 0:
        raise RuntimeError(f"CUDA error {code}: there is no device {number}")
    name = ctypes.create_string_buffer(100)
    driver.cuDeviceGetName(name, len(name), handle)
    return name.value.decode()


print("training on", device(NUMBER))
rng = np.random.default_rng(21)
print(f"loss: {np.mean(rng.normal(size=100) ** 2):.3f}")
