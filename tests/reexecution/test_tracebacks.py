"""Logs as Python 2.7 to 3.13, frameworks, pytest and native code write them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged_runs import bug, ran, traceback

from faultatlas.analysis.reexecution.bugs import Commands
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sightings import observe
from faultatlas.analysis.reexecution.traces.failures import Failure
from faultatlas.analysis.reexecution.traces.normalising import normalised, plain
from faultatlas.analysis.reexecution.traces.tracebacks import last_traceback

law = settings(max_examples=80)
SIGNALLED = {"outcome": Outcome.SIGNALLED, "exit_code": None}


def failure(stderr: str, stdout: str = "", **fields: Any) -> Failure:
    run = ran("buggy", 1, stdout, stderr, **{"exit_code": 1, **fields})
    found = observe(bug(), [run])[0].failure
    assert found is not None
    return found


CHAINED = """\
Traceback (most recent call last):
  File "/bug/load.py", line 5, in outer
    inner()
    ~~~~~^^
  File "/bug/load.py", line 2, in inner
    raise ValueError("shapes")
ValueError: shapes (3,4)
  File "fake.py", line 3, in fake
end: of

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/bug/train.py", line 9, in <module>
    outer()
  File "/bug/train.py", line 8, in outer
    {}["k"]
    ~~^^^^^
KeyError: 'k'
"""
GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/bug/train.py", line 11, in <module>
  |     main()
  |   File "/bug/train.py", line 10, in main
  |     raise ExceptionGroup("several", es)
  | ExceptionGroup: several (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/bug/train.py", line 1, in a
    |     def a(): raise ValueError("one")
    |              ^^^^^^^^^^^^^^^^^^^^^^^
    | ValueError: one
    | a note
    +------------------------------------
"""
SYNTAX = """\
  File "train.py", line 7
    print "loss", loss
               ^
SyntaxError: Missing parentheses in call to 'print'
"""
IMPORTED_SYNTAX = f"""\
Traceback (most recent call last):
  File "train.py", line 1, in <module>
    import net
{SYNTAX.replace("train.py", "/bug/net.py")}"""
POOL = '''\
multiprocessing.pool.RemoteTraceback:
"""
Traceback (most recent call last):
  File "/usr/lib/python3.6/multiprocessing/pool.py", line 119, in worker
    result = (True, func(*args, **kwds))
  File "train.py", line 3, in work
    raise ValueError("in the worker %d" % x)
ValueError: in the worker 2
"""

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "train.py", line 7, in <module>
    p.map(work, [1,2])
  File "/usr/lib/python3.6/multiprocessing/pool.py", line 644, in get
    raise self._value
ValueError: in the worker 2
'''
LOADER = """\
Traceback (most recent call last):
  File "/bug/train.py", line 30, in <module>
    for batch in loader:
  File "/env/lib/python3.8/site-packages/torch/utils/data/dataloader.py", line 517, in __next__
    data = self._next_data()
IndexError: Caught IndexError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/env/lib/python3.8/site-packages/torch/utils/data/_utils/worker.py", line 202, in _loop
    data = fetcher.fetch(index)
  File "/bug/train.py", line 12, in __getitem__
    return self.rows[index + 1]
IndexError: list index out of range
"""
TENSORFLOW_1 = """\
2019-03-01 10:11:12.131415: I tensorflow/core/platform/cpu_feature_guard.cc:141] Your CPU supports
Traceback (most recent call last):
  File "/env/lib/python3.6/site-packages/tensorflow/python/client/session.py", line 1334, in _do
    return fn(*args)
tensorflow.python.framework.errors_impl.InvalidArgumentError: Incompatible shapes: [128] vs. [64]
\t [[Node: sub = Sub[T=DT_FLOAT](Placeholder_1, dense_2/BiasAdd)]]

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 41, in <module>
    train()
  File "train.py", line 33, in train
    sess.run(step, feed_dict={x: xs})
  File "/env/lib/python3.6/site-packages/tensorflow/python/client/session.py", line 929, in run
    run_metadata_ptr)
tensorflow.python.framework.errors_impl.InvalidArgumentError: Incompatible shapes: [128] vs. [64]
\t [[Node: sub = Sub[T=DT_FLOAT](Placeholder_1, dense_2/BiasAdd)]]

Caused by op 'sub', defined at:
  File "train.py", line 20, in <module>
    loss = tf.reduce_mean(y - out)
  File "/env/lib/python3.6/site-packages/tensorflow/python/ops/math_ops.py", line 850, in binary
    return func(x, y, name=name)

InvalidArgumentError (see above for traceback): Incompatible shapes: [128] vs. [64]

Exception ignored in: <bound method BaseSession.__del__ of <Session object at 0x7f1c2d3e4f50>>
Traceback (most recent call last):
  File "/env/lib/python3.6/site-packages/tensorflow/python/client/session.py", line 712, in __del__
TypeError: 'NoneType' object is not callable
"""
KERAS = """\
Traceback (most recent call last):
  File "/bug/train.py", line 22, in <module>
    model.fit(x, y)
  File "/env/lib/python3.8/site-packages/keras/utils/traceback_utils.py", line 67, in handler
    raise e.with_traceback(filtered_tb) from None
ValueError: in user code:

    File "/env/lib/python3.8/site-packages/keras/engine/training.py", line 1021, in function  *
        return step_function(self, iterator)

    ValueError: Shapes (None, 1) and (None, 10) are incompatible

"""
PYTEST = """\
============================= test session starts ==============================
collected 2 items

test_model.py .F                                                          [100%]

=================================== FAILURES ===================================
_______________________________ test_shape[8-3] ________________________________

n = 8

    def test_shape(n):
>       assert net.build(n).shape == (8, 2)

test_model.py:9:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

n = 8

    def build(n):
>       raise ValueError(f"no layer of {n}")
E       ValueError: no layer of 8

net.py:2: ValueError
=========================== short test summary info ============================
FAILED test_model.py::test_shape[8-3] - ValueError: no layer of 8
========================= 1 failed, 1 passed in 0.03s ==========================
"""
COLLECTING = """\
==================================== ERRORS ====================================
________________________ ERROR collecting test_model.py ________________________
ImportError while importing test module '/bug/test_model.py'.
Hint: make sure your test modules/packages have valid Python names.
test_model.py:1: in <module>
    import tensorflow
E   ModuleNotFoundError: No module named 'tensorflow'
"""
PYTEST_CHAINED = """\
=================================== FAILURES ===================================
____________________________________ test_a ____________________________________

    def f():
>       try: {}['zz']
E       KeyError: 'zz'

net.py:2: KeyError

The above exception was the direct cause of the following exception:

    def test_a():
>       f()

test_net.py:5:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def f():
        try: {}['zz']
>       except KeyError as e: raise ValueError('no zz') from e
E       ValueError: no zz

net.py:3: ValueError
=========================== short test summary info ============================
FAILED test_net.py::test_a - ValueError: no zz
1 failed in 0.29s
"""
PYTEST_CAPTURED = """\
=================================== FAILURES ===================================
____________________________________ test_a ____________________________________

    def test_a():
        try: {}['zz']
        except KeyError: traceback.print_exc()
>       net.build(5)

test_net.py:5:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

n = 5

    def build(n):
        layers=[1,2]
>       return layers[n]
E       IndexError: list index out of range

net.py:3: IndexError
----------------------------- Captured stderr call -----------------------------
Traceback (most recent call last):
  File "/bug/test_net.py", line 3, in test_a
    try: {}['zz']
KeyError: 'zz'
=========================== short test summary info ============================
FAILED test_net.py::test_a - IndexError: list index out of range
1 failed in 0.18s
"""
PYTEST_NATIVE = """\
=================================== FAILURES ===================================
____________________________________ test_b ____________________________________
Traceback (most recent call last):
  File "/bug/test_net.py", line 5, in test_b
    assert net.build(5)==2
  File "/bug/net.py", line 3, in build
    return layers[n]
IndexError: list index out of range
----------------------------- Captured stdout call -----------------------------
Traceback (most recent call last):
KeyError: 'zz'
=========================== short test summary info ============================
FAILED test_net.py::test_b - IndexError: list index out of range
"""
PYTEST_SYNTAX = """\
==================================== ERRORS ====================================
_________________________ ERROR collecting test_net.py _________________________
/env/lib/python3.11/site-packages/_pytest/python.py:493: in importtestmodule
    mod = import_path(
test_net.py:1: in <module>
    import net
E     File "/bug/net.py", line 1
E       print 'a'
E       ^^^^^^^^^
E   SyntaxError: Missing parentheses in call to 'print'
=========================== short test summary info ============================
ERROR test_net.py
"""
PYTEST_CONFTEST = """\
ImportError while loading conftest '/bug/conftest.py'.
conftest.py:1: in <module>
    import tensorflow
E   ModuleNotFoundError: No module named 'tensorflow'
"""
UNITTEST_UNFOUND = """\
E
======================================================================
ERROR: test_zz (unittest.loader._FailedTest.test_zz)
----------------------------------------------------------------------
AttributeError: type object 'T' has no attribute 'test_zz'

----------------------------------------------------------------------
Ran 1 test in 0.000s

FAILED (errors=1)
"""
UNITTEST = """\
E
======================================================================
ERROR: test_fit (test_model.ModelTest)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/bug/test_model.py", line 8, in test_fit
    fit(3)
AttributeError: 'tuple' object has no attribute 'shape'

----------------------------------------------------------------------
Ran 1 test in 0.000s

FAILED (errors=1)
"""
PRINT = "SyntaxError: Missing parentheses in call to 'print' in"


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        (CHAINED, "KeyError: 'k' in train.py, outer"),
        (GROUP, "ExceptionGroup: several (# sub-exceptions) in train.py, main"),
        (SYNTAX, f"{PRINT} train.py"),
        (IMPORTED_SYNTAX, f"{PRINT} net.py"),
        (POOL, "ValueError: in the worker # in train.py, <module>"),
        (LOADER, "IndexError: list index out of range in train.py, __getitem__"),
        (
            TENSORFLOW_1,
            "InvalidArgumentError: Incompatible shapes: [#] vs. [#] in train.py, train",
        ),
        (
            KERAS,
            "ValueError: Shapes (None, #) and (None, #) are incompatible in train.py, <module>",
        ),
        (
            UNITTEST,
            "AttributeError: 'tuple' object has no attribute 'shape' in test_model.py, test_fit",
        ),
        (PYTEST, "ValueError: no layer of # in net.py, build"),
        (PYTEST_CHAINED, "ValueError: no zz in net.py, f"),
        (PYTEST_CAPTURED, "IndexError: list index out of range in net.py, build"),
        (PYTEST_NATIVE, "IndexError: list index out of range in net.py, build"),
        (PYTEST_SYNTAX, f"{PRINT} test_net.py, <module>"),
        (
            PYTEST_CONFTEST,
            "ModuleNotFoundError: No module named 'tensorflow' in conftest.py, <module>",
        ),
        (
            UNITTEST_UNFOUND,
            "exit 1: no such test: AttributeError: type object 'T' has no attribute 'test_zz'",
        ),
        (
            COLLECTING,
            "ModuleNotFoundError: No module named 'tensorflow' in test_model.py, <module>",
        ),
        ("usage: wrong\n", "exit 1: usage: wrong"),
        ("Traceback (most recent call last):\nKeyboardInterrupt\n", "KeyboardInterrupt"),
    ],
    ids=lambda text: text.strip()[-24:],
)
def test_what_was_raised_and_where_the_program_stood(text: str, signature: str) -> None:
    assert failure(text).signature == signature
    assert failure(f"a line before\n{text}").signature == signature
    assert failure(text.replace("\n", "\r\n")).signature == signature
    assert failure("", stdout=text).signature == signature  # some print it there


def test_what_a_program_logs_is_not_what_pytest_reports() -> None:
    logged = traceback("KeyError: 'logged'")
    assert failure(logged, stdout=PYTEST).exception == "ValueError"


def test_another_test_that_fails_besides_makes_another_failure() -> None:
    head, mark, tail = PYTEST.partition("_______________________________ test_shape")
    besides = (
        f"{head}________ test_first ________\nE   KeyError: 1\n\nnet.py:1: KeyError\n{mark}{tail}"
    )
    one, two = failure(PYTEST), failure(besides)
    assert (one.exception, one.message) == (two.exception, two.message)
    assert one.key != two.key
    assert "of 2 failed tests" in two.signature
    again = UNITTEST.replace("Ran 1 test", f"{UNITTEST[2:]}\nRan 2 tests").replace(
        "ERROR: test_fit", "ERROR: test_other", 1
    )
    assert failure(again).key != failure(UNITTEST).key


def test_an_error_while_the_interpreter_shuts_down_is_not_what_ended_it() -> None:
    assert TENSORFLOW_1.rstrip().endswith("TypeError: 'NoneType' object is not callable")
    assert failure(TENSORFLOW_1).exception.endswith("errors_impl.InvalidArgumentError")


@pytest.mark.parametrize(
    ("stderr", "fields", "signature"),
    [
        ("", {**SIGNALLED, "signal": 11}, "SIGSEGV"),
        ("Segmentation fault (core dumped)\n", {"exit_code": 139}, "SIGSEGV"),
        (
            (
                "terminate called after throwing an instance of 'c10::Error'\n"
                "  what():  CUDA error at 0x7ffe12: device 3\n"
            ),
            {**SIGNALLED, "signal": 6},
            "SIGABRT: c10::Error: CUDA error at <address>: device #",
        ),
        (
            "2020-01-02 03:04:05.6: F ./tensorflow/core/util/launch.h:133] Check failed: 3 > 0\n",
            {**SIGNALLED, "signal": 6},
            "SIGABRT: Check failed: # > #",
        ),
        (
            (
                "Fatal Python error: Aborted\n\n"
                "Current thread 0x00007f17 (most recent call first):\n"
                '  File "/env/lib/python3.12/site-packages/x.py", line 3 in g\n'
                '  File "/bug/train.py", line 3 in f\n  File "/bug/train.py", line 4 in <module>\n'
            ),
            {"exit_code": 134},
            "SIGABRT: Fatal Python error: Aborted in train.py, f",
        ),
        (
            "*** Error in `python': double free or corruption (out): 0x000055d5 ***\n",
            {**SIGNALLED, "signal": 6},
            "SIGABRT: double free or corruption (out): <address> ***",
        ),
    ],
)
def test_native_code_dies_of_a_signal(stderr: str, fields: dict[str, Any], signature: str) -> None:
    assert failure(stderr, **fields).signature == signature


def test_lines_numbers_and_places_on_disk_do_not_make_another_crash() -> None:
    first = failure(traceback("ValueError: row 3 of /tmp/tmpx1/a.csv at 0x7f00", line=12))
    second = failure(traceback("ValueError: row 41 of /tmp/tmpzz/b.csv at 0x55ee", line=99))
    assert first.key == second.key
    assert "row 41" in str(second)  # people are shown what was said


@pytest.mark.parametrize(
    "other",
    [
        traceback("TypeError: shapes (3,4) and (5,6) not aligned"),
        traceback("ValueError: shapes (3,4) and (5,6,7) not aligned"),
        traceback("ValueError: dtype float32, not float64"),
        traceback(function="predict"),
        traceback(file="/bug/net.py"),
    ],
)
def test_type_message_and_place_make_another_crash(other: str) -> None:
    assert failure(other).key != failure(traceback()).key


def test_sides_may_call_their_scripts_differently() -> None:
    made = bug()
    made.runs["buggy"] = Commands((("python", "post-buggy.py"),))
    made.runs["fixed"] = Commands((("python", "src/post-fix.py"),), place="src")
    files = {"buggy": "post-buggy.py", "fixed": "/bug/src/post-fix.py"}
    runs = [ran(side, 1, "", traceback(file=file), exit_code=1) for side, file in files.items()]
    first, second = [each.failure for each in observe(made, runs)]
    assert first is not None
    assert second is not None
    assert first.key == second.key


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "expected dense_3 to have (10,) but got (1,)",
            "expected dense_# to have (#,) but got (#,)",
        ),
        ("<Foo object at 0x7FF3a2> of 1.5e-3 and -2", "<Foo object at <address>> of # and #"),
        ("dtype float32 is not float64", "dtype float32 is not float64"),
        ("No such file: '/bug/data/train.csv'", "No such file: '<folder>/train.csv'"),
        ("job 8f14e45fceea167a5a36dedd4bea2543 took 3.2s", "job <id> took #s"),
        ("\n\n  second line\nthird", "second line"),
        ("\x1b[31mred\x1b[0m", "red"),
    ],
)
def test_what_changes_from_run_to_run_is_taken_out(message: str, expected: str) -> None:
    assert normalised(message) == expected


def test_a_hostile_message_does_not_reach_a_terminal() -> None:
    text = str(failure(traceback("ValueError: \x1b[2Jgone\x07 \N{RIGHT-TO-LEFT OVERRIDE}elif")))
    assert text.isprintable()
    assert "gone" in text
    assert len(plain("x" * 10_000)) == 300


@given(st.text(st.sampled_from('Traceback (most recent call last):\n |+File "x", line 3 in E:r')))
@law
def test_no_text_breaks_it(text: str) -> None:
    for each in (text, traceback() + text, text + traceback()):
        found = last_traceback(each)
        assert found is None or 0 <= found.start <= len(each)
