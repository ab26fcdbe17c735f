#!/usr/bin/env python3
"""Checks the pages: that what they point to exists, and that they tell of all that there is.

Every relative link leads to a file, and to a heading if it names one. Rows of tables are whole. Commands of pages for users are for every shell. Every `make X`, path, test and flag that a page names is there. The
README is short, and all files name one version. docs/metrics.md has every metric, docs/configuration.md every flag and plugin, and they have no others; nor have alerts and dashboards other metrics; docs/troubleshoot.md every message (messages.py),
docs/install.md every object of manifests/base, scheduler/quota/README.md every field of a GpuQuota (crds.py).
The panels that docs/questions.md names are those of the dashboards.
With each run, made-up pages show that the checks can fail. What YAML stands in the pages is tried on a real API server: tests/cluster/e2e/docs_test.go.
"""

import json
import pathlib
import posixpath
import re
import sys

import crds
import messages

LONGEST_README = 800  # words: five minutes

FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
REFERENCE = re.compile(r"\]\[([^\]]+)\]")
DEFINITION = re.compile(r"^\[([^\]]+)\]: \S+$", re.M)
HEADING = re.compile(r"^#{1,6} +(.*?) *$", re.M)
MAKE = re.compile(r"(?:^|&& )make ([a-z][a-z-]*)")
# A file or folder of the tree, whole: no placeholders, patterns or globs in it.
TREE_PATH = re.compile(r"^(?:\.ci|bench|cmake|docs|k8s-client|manifests|plugins|scheduler|tests)/[\w./-]*$")
GO_TEST = re.compile(r"^Test[A-Z]\w+$")
CTEST = re.compile(r"ctest .*-R '([^']+)'")

# Where the version stands that CMakeLists.txt says.
IMAGE = r"gpu-scheduler:(\d[\w.+-]*)"
LABEL = r"app\.kubernetes\.io/version: (\S+)"
VERSIONS = {
    "README.md": IMAGE,
    "docs/install.md": IMAGE,
    "docs/kubectl-gpu.md": IMAGE,
    "Dockerfile": IMAGE,
    "manifests/base/kustomization.yaml": rf"(?:newTag: (\S+)|{LABEL})",
    "manifests/monitoring/kustomization.yaml": LABEL,
    "manifests/policies/admission/kustomization.yaml": LABEL,
    "manifests/chart/Chart.yaml": r"(?m)^(?:version|appVersion): (\S+)",
}


def slug(heading):
    """The anchor that a heading has on GitHub."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(text):
    found = []
    for heading in HEADING.findall(FENCE.sub("", text)):
        anchor = slug(heading)
        found.append(f"{anchor}-{found.count(anchor)}" if anchor in found else anchor)
    return found


def code(text):
    """All code of a page: the contents of its spans, and the lines of its blocks."""
    for block in re.findall(r"^```[^\n]*\n(.*?)^```$", text, flags=re.M | re.S):
        yield from block.splitlines()
    yield from messages.code_spans(text)


def broken_links(name, text, read):
    """`read(path)`: a page's text, "" for another file or a folder, None where there is nothing."""
    text = FENCE.sub("", text)
    for reference in set(REFERENCE.findall(text)) - set(DEFINITION.findall(text)):
        yield f"{name}: [{reference}]: no line says where that leads"
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        page = name if not path else posixpath.normpath(f"{posixpath.dirname(name)}/{path}").lstrip("/")
        content = read(page)
        if content is None:
            yield f"{name}: ({target}): there is no such file"
        elif anchor and anchor not in anchors(content):
            yield f"{name}: ({target}): there is no such heading"


def unknown_names(name, text, known):
    """`known`: the names of "make" targets, Go tests and ctest's tests, and of a path whether it is there."""
    for line in code(text):
        for target in MAKE.findall(line):
            if target not in known["make"]:
                yield f"{name}: `make {target}`: there is no such target"
        if GO_TEST.match(line) and line not in known["tests"]:
            yield f"{name}: `{line}`: there is no such test"
        for test in CTEST.findall(line):
            if not any(test in known_test for known_test in known["ctest"]):
                yield f"{name}: `{line}`: there is no such test"
        for word in line.split():
            if TREE_PATH.match(word) and not known["path"](word):
                yield f"{name}: `{word}`: there is no such file"


def unportable_commands(name, text):
    """Of the blocks without a language those lines that zsh or BSD's sed, which macOS has, would not take: in zsh a "#" behind a command begins no comment."""
    for language, block in re.findall(r"^ *```([^\n]*)\n(.*?)^ *```$", text, flags=re.M | re.S):
        for line in [] if language else block.splitlines():
            bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", line)
            if re.match(r" *[a-z].* # ", bare):
                yield f"{name}: `{line}`: a comment behind a command"
            if re.search(r"\bsed -i ", bare):
                yield f"{name}: `{line}`: sed -i without a suffix"


def ragged_tables(name, text):
    """Rows that have not as many cells as their table's first. A "|" in a code span begins a cell, too, unless it is escaped."""
    cells = None
    for number, line in enumerate(re.sub(r"\\.", "", text).splitlines(), 1):
        if not line.startswith("|"):
            cells = None
        elif cells is None:
            cells = line.count("|")
        elif line.count("|") != cells:
            yield f"{name}:{number}: the row has {line.count('|') - 1} cells, its table's first {cells - 1}"


def untold(what, names, page, text):
    """Of the names those that the page does not have in its code."""
    told = set(re.findall(r"[\w-]+", "\n".join(code(text))))
    return [f"{page} does not tell of the {what} {name}" for name in names if name not in told]


def unknown_metrics(name, text, metrics):
    """What the text names as a metric of ours, and is none. A name that ends with "_" stands for several."""
    for metric in sorted(set(re.findall(r"\bgpu_scheduler_\w+", text))):
        if not metric.endswith("_") and metric not in metrics and re.sub(r"_(bucket|count|sum)$", "", metric) not in metrics:
            yield f"{name}: there is no metric {metric}"


def first_cells(text, pattern):
    """What the pattern finds in the first cells of the tables."""
    return [found for line in text.splitlines() if line.startswith("| `") for found in re.findall(pattern, line.split("|")[1])]


def panels(dashboard):
    """The titles of the panels of a Grafana dashboard."""
    return [panel["title"] for panel in json.loads(dashboard)["panels"] if panel["type"] != "row"]


def unknown_panels(page, known):
    """What the last column of the page's tables names in quotes, and is no panel."""
    cells = [line.split("|")[-2] for line in page.splitlines() if line.startswith("|")]
    return [f"docs/questions.md: no dashboard has a panel {name}" for cell in cells for name in re.findall(r'"([^"]+)"', cell) if name not in known]


def self_test():
    pages = {"README.md": "", "docs/a.md": "# One thing\n## A `b` and [c](d)\n"}
    cases = [
        (broken_links("docs/a.md", "[x](../README.md), [y](#one-thing), [z](a.md#a-b-and-c), [w](https://e.x/)", pages.get), 0),
        (broken_links("docs/a.md", "[x](README.md)", pages.get), 1),
        (broken_links("docs/a.md", "[x](a.md#another), [y][z], [v][w]\n\n[w]: https://e.x/\n", pages.get), 2),
        (unknown_names("a", "`make test`, `TestOne`, `cat docs/a.md`, `ctest -R 'b c'`", KNOWN_HERE), 0),
        (unknown_names("a", "`make tests`, `TestTwo`, `docs/b.md`\n```\nmake toast X=1\nctest -R 'b d'\ncat docs/b.md\n```\n", KNOWN_HERE), 6),
        (unportable_commands("a", "```\nkubectl get pods -l 'a # b'\nsed -i.bak s/a/b/ c\n# a # b\n```\n```yaml\na: 1 # b\n```\na b # c\n"), 0),
        (unportable_commands("a", "```\nkubectl get pods  # b\n  sed -i s/a/b/ c\n```\n"), 2),
        (ragged_tables("a", "| a | b |\n| - | - |\n| `x\\|y` | c |\n\n| d |\n"), 0),
        (ragged_tables("a", "| a | b |\n| - | - |\n| `x|y` | c |\n| d |\n"), 2),
        (unknown_panels('| a "x" | "Free" |\n| b | "Frei", "Used" |\n', panels('{"panels": [{"type": "stat", "title": "Free"}, {"type": "row", "title": "Used"}]}')), 2),
        (unknown_metrics("a", "gpu_scheduler_a_total, gpu_scheduler_b_seconds_bucket, gpu_scheduler_c_*", ["gpu_scheduler_a_total", "gpu_scheduler_b_seconds"]), 0),
        (unknown_metrics("a", "gpu_scheduler_a, gpu_scheduler_b_count", ["gpu_scheduler_a_total"]), 2),
        (first_cells("| `--a`, `-b` | `--c` |\n| d |\n", r"--[a-z]+"), 1),
        (untold("metric", ["a_total", "b_total"], "a", "`a_total`, b_total"), 1),
    ]
    for number, (got, want) in enumerate(cases):
        if len(got := list(got)) != want:
            sys.exit(f"self-test {number}: {got}, want {want}")
    if why := messages.self_test() or crds.self_test():
        sys.exit(f"self-test: {why}")


KNOWN_HERE = {"make": ["test"], "tests": ["TestOne"], "ctest": ["a b c"], "path": lambda path: path == "docs/a.md"}


def names_in(path, pattern):
    """What the groups of a pattern match in a file."""
    found = {match[match.lastindex] for match in re.finditer(pattern, path.read_text(encoding="utf-8"))}
    if not found:
        sys.exit(f"{path}: nothing is found there any more")
    return sorted(found)


def main():
    self_test()
    root = pathlib.Path(__file__).resolve().parents[2]
    pages = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
             for path in sorted(root.rglob("*.md")) if path.relative_to(root).parts[0] != "build"}

    def read(page):
        path = (root / page).resolve()
        if not path.exists():
            return None
        return path.read_text(encoding="utf-8") if path.suffix == ".md" else ""

    known = {
        "make": names_in(root / "Makefile", r"(?m)^([a-z][a-z-]*):"),
        "tests": [test for path in sorted((root / "tests/cluster").rglob("*_test.go"))
                  for test in re.findall(r"(?m)^func (Test\w+)\(", path.read_text(encoding="utf-8"))],
        "ctest": [test for path in sorted((root / "tests").rglob("*_test.cc"))
                  for test in re.findall(r'TEST_CASE(?:_METHOD)?\([^"]*"([^"]+)"', path.read_text(encoding="utf-8"))],
        "path": lambda path: (root / path).exists(),
    }
    found = []
    for name, text in pages.items():
        found += broken_links(name, text, read)
        found += unknown_names(name, text, known)
        found += ragged_tables(name, text)
        if name == "README.md" or name.startswith(("docs/", "manifests/")):
            found += unportable_commands(name, text)
    metrics = [name for path in ("metrics.cc", "gpu_metrics.h")
               for name in names_in(root / "scheduler/server" / path, r'(?:counters|gauges|histograms)\(\s*registry_?,\s*"(\w+)"')]
    flags = names_in(root / "scheduler/main.cc", r'"(?:-v,)?--([a-z-]+)"')
    plugins = names_in(root / "plugins/registry.cc", r'"([A-Z]\w+)"')
    found += untold("metric", metrics, "docs/metrics.md", pages["docs/metrics.md"])
    found += untold("flag", ["--" + flag for flag in flags], "docs/configuration.md", pages["docs/configuration.md"])
    found += untold("plugin", plugins, "docs/configuration.md", pages["docs/configuration.md"])
    told = pages["docs/configuration.md"]
    found += [f"docs/configuration.md: there is no flag --{flag}" for flag in first_cells(told, r"--([a-z-]+)") if flag not in flags + ["help"]]
    found += [f"docs/configuration.md: there is no plugin {plugin}" for plugin in first_cells(told.partition("## Plugins")[2].partition("## ")[0], r"`(\w+)`")
              if plugin not in plugins]
    monitoring = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted((root / "manifests/monitoring").rglob("*.*"))}
    found += [line for name, text in {**pages, **monitoring}.items() for line in unknown_metrics(name, text, metrics)]
    objects = {name for path in (root / "manifests/base").glob("*.yaml") if path.name not in ("config.yaml", "kustomization.yaml")
               for name in names_in(path, r"(?m)^metadata:\n  name: (\S+)$")}
    found += untold("object", sorted(objects), "docs/install.md", pages["docs/install.md"])
    found += unknown_panels(pages["docs/questions.md"], [panel for path in (root / "manifests/monitoring/dashboards").glob("*.json")
                                                         for panel in panels(path.read_text(encoding="utf-8"))])
    (version,) = names_in(root / "CMakeLists.txt", r"project\(gpu_scheduler VERSION (\S+)")
    found += [f"{path}: version {other}, but CMakeLists.txt says {version}"
              for path, pattern in VERSIONS.items() for other in names_in(root / path, pattern) if other != version]
    found += messages.missing(root, pages["docs/troubleshoot.md"], [pages["docs/kubectl-gpu.md"], pages["docs/ui.md"]])
    found += crds.differences((root / "manifests/base/crds/gpuquotas.yaml").read_text(encoding="utf-8"), pages["scheduler/quota/README.md"])
    if (words := len(pages["README.md"].split())) > LONGEST_README:
        found.append(f"README.md has {words} words; {LONGEST_README} are five minutes")
    print("\n".join(found) or f"{len(pages)} pages: every link leads somewhere, and nothing is missing")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
