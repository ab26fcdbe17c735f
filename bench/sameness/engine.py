"""Engines of two builds, told and asked by lines (answer.h)."""

import json
import os
import re
import subprocess
import tempfile


class EngineError(Exception):
    """A build could not do what it was asked; its own words, and the files to do it again: name → text."""

    files = {}


def header(config, name="world.yaml"):
    """The first line of a recording. An empty config is the default configuration."""
    return json.dumps({"gpu-scheduler-record": 1, "config_file": name, "config": config})


class Engine:
    """`bench answer`, running. Keeps what it was told and what it answered.

    `calls` are the lines that it was told; answers[i] is what it said to calls[i], None to what is no question.
    """

    def __init__(self, bench, first_line):
        self._process = subprocess.Popen([bench, "answer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.calls = []
        self.answers = []
        self._send(first_line, None)

    def tell(self, at, event):
        self._send(json.dumps({"at": at, **event}, separators=(",", ":")), None)

    def step(self, at):
        """The decision, or None, and when it wants to be woken, or None."""
        answer = self._ask({"at": at, "step": None})
        return answer["step"], answer["wakeup"]

    def ask(self, at, question, **what):
        return self._ask({"at": at, "ask": question, **what})["answer"]

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        if self._process.wait() != 0:
            raise EngineError(f"bench answer ended with {self._process.returncode}")

    def _ask(self, call):
        line = json.dumps(call, separators=(",", ":"))
        self._send(line, None)
        self._process.stdin.flush()
        self.answers[-1] = self._process.stdout.readline().rstrip("\n")
        if not self.answers[-1]:
            raise EngineError(f"bench answer said nothing to {line}")
        return json.loads(self.answers[-1])

    def _send(self, line, answer):
        try:
            self._process.stdin.write(line + "\n")
        except BrokenPipeError:
            raise EngineError(f"bench answer has ended before {line}") from None
        self.calls.append(line)
        self.answers.append(answer)


def can_answer(bench):
    """Whether that build has `bench answer`; those before it compute recordings again and nothing else."""
    return subprocess.run([bench, "answer", "--help"], capture_output=True).returncode == 0


def kind_of(line):
    """Of a line of a recording or of `calls`: "step" and "ask" are answered, "event" is not; None: the header."""
    match = re.match(r'\{"at": ?\d+, ?"(step|ask|event)"', line)
    return match and match[1]


def answers_of(bench, calls):
    """What a build answers to the calls, in the order and length of `calls`."""
    done = subprocess.run([bench, "answer"], input="\n".join(calls) + "\n", capture_output=True, text=True)
    if done.returncode != 0:
        raise EngineError(f"{bench} answer ended with {done.returncode}: {done.stderr[-2000:]}")
    said = iter(done.stdout.splitlines())
    return [next(said) if kind_of(call) in ("step", "ask") else None for call in calls]


def recording_of(calls, answers):
    """The calls as a recording with those decisions: what any build can compute again."""
    lines = [calls[0]]
    for call, answer in zip(calls[1:], answers[1:]):
        if answer is None:
            lines.append(call)
        elif kind_of(call) == "step":
            lines.append(answer)
    return "\n".join(lines) + "\n"


def computes_again(bench, recording):
    """None if a build's decisions are those of the recording; else the line of the first that is not, as recorded and as computed."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as file:
        file.write(recording)
    try:
        done = subprocess.run([bench, "replay", "--recording", file.name], capture_output=True, text=True)
    finally:
        os.unlink(file.name)
    if done.returncode == 0:
        return None
    found = re.search(r":(\d+): another decision\n  recorded: (.*)\n  computed: (.*)", done.stdout)
    if done.returncode != 1 or not found:
        raise EngineError(f"{bench} replay ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return int(found[1]), found[2], found[3]
