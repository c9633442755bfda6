# -*- coding: utf-8 -*-
"""Seeds of a run, fixed from outside: imported by every Python, 2.7 to 3.13, in the sandbox.

Random numbers depend on FAULTATLAS_SEED, and on nothing else: the same value gives the same run,
another value another run. What a script seeds itself, `random.seed(42)`, is mixed with it: two
literals still give two streams. Nothing is imported that the program does not import itself, no
graph of TensorFlow is made or changed, and what fails here is the harness's problem, not the
program's: it is written to .faultatlas-harness in $TMPDIR, and the program goes on.
"""

# It must be read by Python 2.7 as well:
# ruff: noqa: ANN001, ANN002, ANN003, ANN202, ANN204, ARG002, BLE001, INP001, PLC0206, PTH100, PTH118
# ruff: noqa: PTH120, PTH123, RUF005, S110, SIM102, SLF001, UP004, UP009, UP031, UP036
# mypy: ignore-errors

import os
import sys
import zlib

_HERE = os.path.dirname(os.path.abspath(__file__))
_SEED = os.environ.get("FAULTATLAS_SEED", "")
_LOG = os.path.join(os.environ.get("TMPDIR", os.devnull), ".faultatlas-harness")
_WORD = 1 << 32
_count = {"unseeded": 0, "fork": 0, "operation": 0}

try:
    _INTEGERS = (int, long)
    _TEXTS = (str, unicode, bytearray)
except NameError:
    _INTEGERS = (int,)
    _TEXTS = (str, bytes, bytearray)


def _failed(where):
    """The program must not see it; whoever looks for it finds it."""
    try:
        with open(_LOG, "a") as log:
            log.write("%s: %r\n" % (where, sys.exc_info()[1]))
    except Exception:
        pass


def _mixed(value):
    """A number of 31 bits, never 0, from the run's seed and the script's own value."""
    number = zlib.crc32(("%s/%s" % (_SEED, value)).encode("utf-8", "replace")) & 0xFFFFFFFF
    for factor in (0x85EBCA6B, 0xC2B2AE35):  # so that near seeds give far numbers
        number = ((number ^ (number >> 15)) * factor) & 0xFFFFFFFF
    return (number >> 1) or 1


def _next(kind="unseeded"):
    """For what is seeded with nothing: another number each time, in the same order every run."""
    _count[kind] += 1
    return _mixed("%s %d" % (kind, _count[kind]))


def _is_integer(value):
    if isinstance(value, _INTEGERS):
        return True
    return (
        type(value).__module__ == "numpy"
        and hasattr(value, "__index__")
        and not getattr(value, "shape", ())
    )


def _seed_of(value):
    """What a seed becomes; what is no seed is left as it is, so that its error is the usual one."""
    if value is None:
        return _next()
    if _is_integer(value):
        return _mixed(int(value)) if 0 <= int(value) < _WORD else value
    if isinstance(value, (list, tuple)) and value and all(_is_integer(one) for one in value):
        if all(0 <= int(one) < _WORD for one in value):
            return [_mixed(int(one)) for one in value]
    return value


# random


def _after_random(module):
    original = module.Random.seed

    def seed(self, a=None, *more, **named):
        if a is None:
            a = _next()
        elif isinstance(a, _INTEGERS):
            a = _mixed(a)
        elif isinstance(a, (float,) + _TEXTS):
            a = _mixed(repr(a))
        return original(self, a, *more, **named)

    module.Random.seed = seed
    module.seed = module._inst.seed
    module.seed()
    if hasattr(os, "register_at_fork"):  # else every child would draw from the system

        def before():
            _count["fork"] += 1

        def after():
            try:
                original(module._inst, _mixed("fork %d" % _count["fork"]))
            except Exception:
                _failed("fork")

        os.register_at_fork(before=before, after_in_child=after)


# numpy


def _same_kind(original, body):
    """A class that makes other instances, and takes those of the original for its own."""

    def is_instance(cls, one):
        return isinstance(one, original) if cls is made else type.__instancecheck__(cls, one)

    def is_subclass(cls, other):
        return issubclass(other, original) if cls is made else type.__subclasscheck__(cls, other)

    kind = type(original)
    meta = type(
        "Seeded", (kind,), {"__instancecheck__": is_instance, "__subclasscheck__": is_subclass}
    )
    body["__doc__"] = original.__doc__
    body["__module__"] = "numpy.random"
    made = meta(original.__name__, (original,), body)
    return made


def _seeded_class(original):
    def init(self, seed=None, *more, **named):
        original.__init__(self, _seed_of(seed), *more, **named)

    body = {"__init__": init}
    if hasattr(original, "seed"):

        def reseed(self, seed=None, *more, **named):
            return original.seed(self, _seed_of(seed), *more, **named)

        body["seed"] = reseed
    return _same_kind(original, body)


def _seeded_sequence(original):
    def init(self, entropy=None, **named):
        if not named.get("spawn_key"):  # a child has its parent's entropy, which is mixed already
            entropy = _seed_of(entropy)
        original.__init__(self, entropy, **named)

    return _same_kind(original, {"__init__": init})


def _after_numpy(module):
    seed = module.seed

    def seeded(*given, **named):
        if given:
            given = (_seed_of(given[0]),) + given[1:]
        else:
            named["seed"] = _seed_of(named.get("seed"))
        return seed(*given, **named)

    seeded.__name__, seeded.__doc__ = "seed", seed.__doc__
    changed = {"seed": seeded}
    for name in ("RandomState", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"):
        if hasattr(module, name):
            changed[name] = _seeded_class(getattr(module, name))
    if hasattr(module, "SeedSequence"):
        changed["SeedSequence"] = _seeded_sequence(module.SeedSequence)
    if hasattr(module, "default_rng"):
        default = module.default_rng

        def default_rng(seed=None):
            return default(_seed_of(seed))

        default_rng.__doc__ = default.__doc__
        changed["default_rng"] = default_rng
    seed(_next())
    inner = getattr(module, "mtrand", None)
    for name in changed:
        setattr(module, name, changed[name])
        if name in ("seed", "RandomState") and hasattr(inner, name):
            setattr(inner, name, changed[name])


# tensorflow


def _after_tensorflow(module):
    """Every random operation asks here for its two seeds: they are changed on the way.

    Neither tf.set_random_seed nor the default graph is touched: what a script sets there is what
    it finds there, in TensorFlow 1 and 2, in graphs and without.
    """
    original = module.get_seed

    def get_seed(op_seed, *more):
        first, second = original(op_seed, *more)
        if first is None and second is None:
            first, second = 87654321, _operation(module)
        if first is None or not _is_integer(first):
            return first, second
        return _mixed(int(first)), second

    module.get_seed = get_seed


def _operation(module):
    """A number for an operation that has none: as TensorFlow counts them itself."""
    try:
        if not module.context.executing_eagerly():
            return module.ops.get_default_graph()._last_id
    except Exception:
        pass
    try:
        if not hasattr(module, "context"):
            return module.ops.get_default_graph()._last_id
    except Exception:
        pass
    return _next("operation")


# keras with seeds of its own


def _integer_argument(function, place):
    """The same function, with its seed mixed when it is a literal."""

    def changed(*given, **named):
        if len(given) > place and _is_integer(given[place]):
            given = given[:place] + (_mixed(int(given[place])),) + given[place + 1 :]
        elif _is_integer(named.get("seed")):
            named["seed"] = _mixed(int(named["seed"]))
        return function(*given, **named)

    changed.__name__ = getattr(function, "__name__", "changed")
    changed.__doc__ = getattr(function, "__doc__", None)
    return changed


def _after_keras_seeds(module):
    if hasattr(module, "SeedGenerator"):
        module.SeedGenerator.__init__ = _integer_argument(module.SeedGenerator.__init__, 1)
    if hasattr(module, "draw_seed"):
        module.draw_seed = _integer_argument(module.draw_seed, 0)


def _after_generator(module):
    """Initial weights of TensorFlow 2 and Keras 2: their generators take literals as they are."""
    for name in ("RandomGenerator", "_RandomGenerator"):
        if hasattr(module, name):
            kind = getattr(module, name)
            kind.__init__ = _integer_argument(kind.__init__, 1)


# torch


def _after_torch(module):
    original = module.manual_seed

    def manual_seed(seed):
        return original(_mixed(int(seed)))

    manual_seed.__doc__ = original.__doc__
    module.manual_seed = manual_seed
    module.random.manual_seed = manual_seed
    for name in ("manual_seed", "manual_seed_all"):
        if hasattr(getattr(module, "cuda", None), name):
            setattr(module.cuda, name, _integer_argument(getattr(module.cuda, name), 0))
    original(_mixed("torch"))


_AFTER = {
    "random": _after_random,
    "numpy.random": _after_numpy,
    "tensorflow.python.framework.random_seed": _after_tensorflow,
    "tensorflow_core.python.framework.random_seed": _after_tensorflow,  # 1.15 to 2.1
    "keras.src.random.seed_generator": _after_keras_seeds,
    "keras.backend": _after_generator,
    "keras.src.backend": _after_generator,
    "keras.initializers.initializers_v2": _after_generator,
    "tensorflow.python.ops.init_ops_v2": _after_generator,
    "tensorflow_core.python.ops.init_ops_v2": _after_generator,
    "tensorflow.python.keras.initializers.initializers_v2": _after_generator,
    "torch": _after_torch,
}


class _Finder(object):
    """Sees the import of the libraries above, and lets all others pass."""

    def __init__(self):
        self.busy = set()
        self.kept = sys.modules.get(__name__)  # Python 2 clears a module that nobody holds

    def find_spec(self, name, path=None, target=None):
        if name not in _AFTER or name in self.busy:
            return None
        self.busy.add(name)
        try:
            for finder in list(sys.meta_path):
                if finder is self or not hasattr(finder, "find_spec"):
                    continue
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    self.watch(name, spec.loader)
                    return spec
        finally:
            self.busy.discard(name)
        return None

    def watch(self, name, loader):
        try:
            execute = loader.exec_module

            def exec_module(module):
                execute(module)
                _arrived(name, module)

            loader.exec_module = exec_module
        except Exception:
            _failed(name)

    def find_module(self, name, path=None):
        if name not in _AFTER or name in self.busy:
            return None
        return self

    def load_module(self, name):  # Python 2 only
        self.busy.add(name)
        try:
            __import__(name)
        finally:
            self.busy.discard(name)
        module = sys.modules[name]
        _arrived(name, module)
        return module


def _arrived(name, module):
    after = _AFTER.pop(name, None)
    if after is not None:
        try:
            after(module)
        except Exception:
            _failed(name)


def _install():
    for name in list(_AFTER):
        if name in sys.modules:
            _arrived(name, sys.modules[name])
    sys.meta_path.insert(0, _Finder())


def _next_sitecustomize():
    """The environment's own, if it has one: it is run as if this one were not there."""
    folders = [one for one in sys.path if os.path.abspath(one or ".") != _HERE]
    if sys.version_info[0] == 2:
        import imp

        try:
            found = imp.find_module("sitecustomize", folders)
        except ImportError:
            return
        imp.load_module("sitecustomize", *found)
        return
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", folders)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if _SEED:
    try:
        _install()
    except Exception:
        _failed("install")
_next_sitecustomize()
