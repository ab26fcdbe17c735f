"""What a figure of `bench-decide` depends on, beside the code that is measured: compiler, flags, libraries, and what measures."""

import hashlib
import json
import pathlib
import platform
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def conditions(program):
    """Of a bench-decide in its build folder; what cannot be found out is "unknown"."""
    folder = pathlib.Path(program).resolve().parents[1]
    return {"compiler": compiler_of(folder), "flags": flags_of(folder), "libraries": libraries_of(program)}


def compiler_of(folder):
    for file in sorted(folder.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")):
        text = file.read_text()
        name, version = (re.search(rf'set\({key} "([^"]*)"\)', text) for key in ("CMAKE_CXX_COMPILER_ID", "CMAKE_CXX_COMPILER_VERSION"))
        if name and version:
            return f"{name[1]} {version[1]}"
    return "unknown"


def flags_of(folder):
    """What the engine's sources are compiled and the program is linked with; warnings, tables for debuggers, paths and the compiler's own memory
    make no difference."""
    try:
        commands = json.loads((folder / "compile_commands.json").read_text())
        cache = (folder / "CMakeCache.txt").read_text()
    except OSError:
        return "unknown"
    engine = next((entry["command"].split() for entry in commands if "/scheduler_core.dir/" in entry["command"]), None)
    if engine is None:
        return "unknown"
    said = [flag for flag in engine if re.match(r"-(O|f|m|std=|D|-param=(?!ggc))", flag) and not re.match(r"-f(diagnostics|file-prefix|debug-prefix)", flag)]
    linked = re.search(r"^CMAKE_EXE_LINKER_FLAGS:[A-Z]+=(.*)$", cache, re.MULTILINE)
    unity = ["unity"] if re.search(r"^CMAKE_UNITY_BUILD:[A-Z]+=(ON|1|TRUE)$", cache, re.MULTILINE) else []
    return " ".join(dict.fromkeys(said + (linked[1].split() if linked else []) + unity))


def libraries_of(program):
    """The C library's version, and what is in place of its allocator or beside it."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    names = sorted(set(re.findall(r"^\s*(\S+?)\.so", listed, re.MULTILINE)) - {"linux-vdso"})
    return " ".join(["-".join(platform.libc_ver())] + [name for name in names if "/" not in name])


def protocol_of(runs):
    """A short name of what is measured and how: the runs, and the sources that carry them out."""
    sources = sorted(HERE.glob("*.cc")) + sorted(HERE.glob("*.h"))
    text = json.dumps(runs).encode() + b"".join(source.read_bytes() for source in sources)
    return hashlib.sha256(text).hexdigest()[:12]


def valgrind():
    return subprocess.run(["valgrind", "--version"], capture_output=True, text=True).stdout.strip()
