"""Starts one run: a program of its own, for a clean interpreter, that imports nothing of ours.

It reads what to do as JSON from its input, and stays until the run has ended. It dies with its
parent, and what it started dies with it: the kernel sees to that (PR_SET_PDEATHSIG), so a killed
sampler leaves nothing behind. Its own child enters the cgroups, takes on the limits, and becomes
bubblewrap, or makes the namespaces itself, or (isolation 'none') becomes the program.

What it says stands on the descriptor `status`, one JSON document a line:
{"child-pid": n}      the first process of the sandbox, by its number outside
{"wait-status": n}    how the program ended (bubblewrap says {"exit-code": n} instead)
{"problem": "..."}    why it could not be started
{"ended": n, "cpu": s, "largest": kB}   how the child ended, and what all of them used
"""

# pathlib would be a good part of the time that it takes to start:
# ruff: noqa: PTH102, PTH103, PTH110, PTH112, PTH118, PTH120, PTH123, PTH208, PTH211

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import traceback
from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT_READONLY = 32 | 4096 | 1  # MS_REMOUNT, MS_BIND, MS_RDONLY
MS_BIND = 4096 | 16384  # with MS_REC
MS_SLAVE = 524288 | 16384
MNT_DETACH = 2
SYS_MOUNT_SETATTR = 442  # the same number on every processor
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}
SYS_KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "ppc64le": 271, "s390x": 280}
KEYCTL_JOIN_SESSION_KEYRING = 1
KEYCTL_CLEAR = 7
USER_KEYRINGS = (-4, -5)  # of a user, and of its session
USER_NAMESPACES = "/sys/user/max_user_namespaces"  # of /proc: how many may be made below this one
AT_FDCWD = -100
AT_RECURSIVE = 0x8000
MOUNT_ATTR_RDONLY = 1
MOUNT_ATTR_NOSUID = 2
MOUNT_ATTR_NODEV = 4
SIOCSIFFLAGS = 0x8914
IFF_UP_RUNNING = 0x41
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
ATTRIBUTES = {
    "readonly": MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
    "writable": MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
    "device": MOUNT_ATTR_NOSUID,
}
COVERED = ("sys", "sysrq-trigger", "irq", "bus")  # of /proc: read-only

libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> None:
    """A function of the C library; what fails is an OSError that names it."""
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        shown = " ".join(one.decode() for one in arguments if isinstance(one, bytes))
        raise OSError(number, f"{name} {shown}: {os.strerror(number)}")


def prctl(option: int, argument: int = 0) -> None:
    """What a process may ask for itself."""
    call("prctl", option, ctypes.c_ulong(argument), 0, 0, 0)


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """What the system call does, with text for bytes."""
    call("mount", source.encode(), target.encode(), kind.encode(), flags, options.encode() or None)


class MountAttributes(ctypes.Structure):
    """What mount_setattr takes."""

    _fields_ = [
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("namespace", ctypes.c_uint64),
    ]


def restrict(target: str, attributes: int) -> None:
    """A mount and all below it."""
    wanted = MountAttributes(attributes, 0, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    path = target.encode()
    call(
        "syscall",
        ctypes.c_long(SYS_MOUNT_SETATTR),
        AT_FDCWD,
        path,
        ctypes.c_uint(AT_RECURSIVE),
        ctypes.byref(wanted),
        size,
    )


def pivot_root(new: str, old: str) -> None:
    """Another root for everyone in this namespace."""
    number = ctypes.c_long(SYS_PIVOT_ROOT[os.uname().machine])
    call("syscall", number, new.encode(), old.encode())


def leave_keys() -> None:
    """Another session's keyring, an empty one: tokens and tickets of the caller stay outside."""
    number = SYS_KEYCTL.get(os.uname().machine)
    if number is not None:
        libc.syscall(ctypes.c_long(number), KEYCTL_JOIN_SESSION_KEYRING, None)


def forget_keys(user: int) -> None:
    """What earlier runs left with the user that this one will be."""
    number = SYS_KEYCTL.get(os.uname().machine)
    child = os.fork() if number is not None else 0
    if child:
        os.waitpid(child, 0)
    elif number is not None:
        with contextlib.suppress(BaseException):
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            for keyring in USER_KEYRINGS:
                libc.syscall(ctypes.c_long(number), KEYCTL_CLEAR, ctypes.c_int(keyring))
        os._exit(0)


def map_users(child: int) -> None:
    """Outside: every user of ours is the same one in the namespace of a child."""
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/self/{name}", encoding="ascii") as file:
            own = [line.split() for line in file]
        write(f"/proc/{child}/{name}", "".join(f"{one[0]} {one[0]} {one[2]}\n" for one in own))


def leave_users(task: dict[str, Any], asking: socket.socket) -> None:
    """Where another user runs the program: one whose keys no other run has.

    In a namespace of its own users have keys of their own. The others make theirs later.
    """
    with asking:
        if task["mapped"] or task["kind"] == "none":
            return
        if not task["closed"]:
            forget_keys(task["user"])
            return
        call("unshare", CLONE_NEWUSER)
        asking.send(b"?")
        if not asking.recv(1):
            raise OSError("the users of a namespace could not be mapped")
        if task["kind"] == "bubblewrap":
            write(f"/proc{USER_NAMESPACES}", "0")


class Report:
    """Where it says what happened."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def say(self, **values: Any) -> None:
        """One document, one line."""
        with contextlib.suppress(OSError):  # nobody listens any more
            os.write(self.descriptor, (json.dumps(values) + "\n").encode())

    def failed(self, error: BaseException) -> None:
        """Why it could not be started."""
        text = "".join(traceback.format_exception_only(type(error), error)).strip()
        self.say(problem=text[-500:])


def main() -> int:
    """Starts the run, and stays until its last process has ended."""
    task = json.loads(sys.stdin.buffer.read())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    report = Report(task["status"])
    os.set_inheritable(report.descriptor, True)
    bare = task["kind"] == "none"
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    if bare:
        signal.signal(signal.SIGTERM, lambda *_: end_descendants_and_self())
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM if bare else signal.SIGKILL)
    if os.getppid() != task["parent"]:
        return 1
    keeper = os.getpid()
    answering, asking = socket.socketpair()
    child = os.fork()
    if child == 0:
        answering.close()
        with contextlib.suppress(BaseException):
            become(task, report, keeper, asking)
        os._exit(125)
    asking.close()
    with answering, contextlib.suppress(OSError):  # the child says that it failed
        if answering.recv(1):
            map_users(child)
            answering.send(b"!")
    if bare:
        report.say(**{"child-pid": child})
    status = wait_for(child)
    if bare:
        report.say(**{"wait-status": status})
        end_descendants()
    with contextlib.suppress(ChildProcessError):  # bubblewrap does not wait for its own
        while True:
            os.wait()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = usage.ru_utime + usage.ru_stime
    report.say(ended=status, cpu=cpu, largest=usage.ru_maxrss)
    return 0


def wait_for(child: int) -> int:
    """How a child ended; others that end meanwhile are buried."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return status


def end_descendants() -> None:
    """Everything that came from here, however far it went: orphans come back to a subreaper."""
    own = os.getpid()
    while True:
        parents: dict[int, int] = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                with (
                    contextlib.suppress(OSError, ValueError, IndexError),
                    open(f"/proc/{name}/stat", "rb") as file,
                ):
                    parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
        found = {own}
        grew = True
        while grew:
            more = {pid for pid, parent in parents.items() if parent in found} - found
            grew = bool(more)
            found |= more
        for pid in found - {own}:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        select.select([], [], [], 0.005)


def end_descendants_and_self() -> None:
    """When the parent has died."""
    end_descendants()
    os._exit(1)


def become(task: dict[str, Any], report: Report, keeper: int, asking: socket.socket) -> NoReturn:
    """In the child: limits first, then the sandbox."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != keeper:
            os._exit(1)
        for file in task["groups"]:
            with open(file, "w", encoding="ascii") as procs:
                procs.write("0")
        os.setsid()
        leave_users(task, asking)
        leave_keys()
        os.umask(0o022)
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
            score.write("500")
        for name, value in task["limits"].items():
            kind = getattr(resource, f"RLIMIT_{name}")
            most = resource.getrlimit(kind)[1]
            kept = value if most == resource.RLIM_INFINITY else min(value, most)
            resource.setrlimit(kind, (kept, kept))
        # Python ignores two of them, which programs expect. The third one it handles: a program
        # could end the first process of its sandbox with it, which the kernel else protects.
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        rules = bytes.fromhex(task["filter"])
        if task["kind"] == "namespaces":
            in_namespaces(task, report)
            refuse_calls(rules)
        elif task["kind"] == "bubblewrap":
            task["argv"][1:1] = told_to_refuse(rules)
        elif task["kind"] == "none":
            os.set_inheritable(report.descriptor, False)
            prctl(PR_SET_NO_NEW_PRIVS, 1)
            os.chdir(task["directory"])
        execute(task)
    except BaseException as error:
        report.failed(error)
        raise


class Filter(ctypes.Structure):
    """What PR_SET_SECCOMP takes."""

    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


def refuse_calls(rules: bytes) -> None:
    """From here on the kernel refuses what the rules say; there is no way back."""
    if rules:
        wanted = Filter(len(rules) // 8, rules)
        mode = ctypes.c_ulong(SECCOMP_MODE_FILTER)
        call("prctl", PR_SET_SECCOMP, mode, ctypes.byref(wanted), 0, 0)


def told_to_refuse(rules: bytes) -> list[str]:
    """The same as words for bubblewrap, which reads the rules from a descriptor."""
    if not rules:
        return []
    reading, writing = os.pipe()
    os.write(writing, rules)
    os.close(writing)
    os.set_inheritable(reading, True)
    return ["--seccomp", str(reading)]


def execute(task: dict[str, Any]) -> NoReturn:
    """Becomes the program. That it is not there is the program's problem, as in a shell."""
    program, variables = task["argv"][0], task["variables"]
    places = [""] if "/" in program else variables.get("PATH", "").split(":")
    why = "not found"
    for folder in places:
        try:
            os.execve(os.path.join(folder, program), task["argv"], variables)  # noqa: S606
        except OSError as error:
            why = error.strerror or why
    if task["kind"] == "bubblewrap":
        raise OSError(f"{program}: {why}")
    os.write(2, f"{program}: {why}\n".encode(errors="replace"))
    os._exit(127)


def in_namespaces(task: dict[str, Any], report: Report) -> None:
    """Returns only in the process that shall become the program."""
    os.set_inheritable(report.descriptor, False)
    user, mapped = task["user"], task["mapped"]
    outer_user, outer_group = os.geteuid(), os.getegid()
    kinds = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    if mapped:
        call("unshare", CLONE_NEWUSER)
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"{user} {outer_user} 1")
        write("/proc/self/gid_map", f"{user} {outer_group} 1")
    call("unshare", kinds)
    with contextlib.suppress(OSError):
        call("unshare", CLONE_NEWCGROUP)
    alive, held = os.pipe()
    first = os.fork()
    if first:
        os.close(alive)
        report.say(**{"child-pid": first})
        status = wait_for(first)
        os._exit(0 if status == 0 else 1)
    try:
        os.close(held)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        end_if_alone(alive)
        build(task["places"], closed=task["closed"])
        call("sethostname", b"bug", ctypes.c_size_t(3))
        loopback_up()
        prctl(PR_SET_DUMPABLE, 0)  # the program shall not look into this process
        program = os.fork()
        if program == 0:
            os.close(alive)
            os.setsid()
            step_down(user, mapped=mapped)
            os.chdir(task["directory"])
            return
        step_down(user, mapped=mapped)
        end_if_alone(alive)  # it may have died while a change of user had cleared the signal
        for descriptor in (1, 2):
            os.dup2(0, descriptor)
        report.say(**{"wait-status": wait_for(program)})
        os._exit(0)
    except BaseException as error:  # noqa: BLE001  (whatever it is, it is said)
        report.failed(error)
        os._exit(125)


def end_if_alone(alive: int) -> None:
    """The other end of a pipe is closed: nobody waits for us, and no signal will come any more."""
    if select.select([alive], [], [], 0)[0]:
        os._exit(1)


def write(path: str, text: str) -> None:
    """A file of the kernel's."""
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def build(places: list[dict[str, Any]], *, closed: bool) -> None:
    """A file system of its own: what is listed, and nothing else."""
    mount("none", "/", "", MS_SLAVE)
    base, old, new = "/tmp", "/old", "/new"  # noqa: S108  (covered before anything is written)
    mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    os.mkdir(base + old)
    os.mkdir(base + new)
    pivot_root(base, base + old)
    os.chdir("/")
    mount("tmpfs", new, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m")
    for place in places:
        put(place, old, new, closed=closed)
    restrict_only(new + "/dev")
    restrict_only(new)
    os.chdir(new)
    pivot_root(".", ".")
    call("umount2", b".", MNT_DETACH)
    os.chdir("/")


def put(place: dict[str, Any], old: str, new: str, *, closed: bool) -> None:
    """One step of it; `old` is where the host's files are, `new` where the new root is."""
    kind, target, source = place["kind"], new + place["target"], old + place["source"]
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    if kind == "link":
        os.symlink(place["source"], target)
        return
    if kind in {"processes", "devices", "memory"} or os.path.isdir(source):
        os.makedirs(target, mode=0o755, exist_ok=True)
    elif not os.path.exists(target):
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    if kind == "processes":
        put_processes(target, closed=closed)
    elif kind == "devices":
        put_devices(old, target)
    elif kind == "memory":
        options = f"mode=1777,size={place['size']}"
        mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options)
    else:
        mount(source, target, "", MS_BIND)
        restrict(target, ATTRIBUTES[kind])


def put_processes(target: str, *, closed: bool) -> None:
    """What the kernel says of processes: its own; what can be set there cannot be set."""
    mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    if closed:
        write(target + USER_NAMESPACES, "0")  # in a namespace of its own it would have capabilities
    for name in COVERED:
        covered = f"{target}/{name}"
        if os.path.exists(covered):
            mount(covered, covered, "", MS_BIND)
            restrict(covered, MOUNT_ATTR_RDONLY)


def put_devices(old: str, target: str) -> None:
    """The devices that every program needs, and no other."""
    mount("tmpfs", target, "tmpfs", MS_NOSUID, "mode=755,size=64k")
    for name in DEVICES:
        os.close(os.open(f"{target}/{name}", os.O_CREAT | os.O_WRONLY, 0o644))
        mount(f"{old}/dev/{name}", f"{target}/{name}", "", MS_BIND)
    for name, aim in {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}.items():
        os.symlink(f"/proc/self/fd{aim}", f"{target}/{name}")
    os.mkdir(f"{target}/pts")
    with contextlib.suppress(OSError):
        mount(
            "devpts", f"{target}/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666"
        )
        os.symlink("pts/ptmx", f"{target}/ptmx")


def restrict_only(target: str) -> None:
    """This one alone, not what is mounted below it."""
    mount("none", target, "", MS_REMOUNT_READONLY | MS_NOSUID | MS_NODEV)


def loopback_up() -> None:
    """A program may talk to itself."""
    with socket.socket() as any_socket, contextlib.suppress(OSError):
        request = struct.pack("16sh", b"lo", IFF_UP_RUNNING)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request.ljust(40, b"\0"))


def step_down(user: int, *, mapped: bool) -> None:
    """No capability, no way to one."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break
    if not mapped:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of user has cleared it


if __name__ == "__main__":
    sys.exit(main())
