"""What the scheduler and its manifests say to users, and whether docs/troubleshoot.md explains it; what kubectl gpu says, the pages on that may
explain.

A message is a string literal (adjacent ones are one) with at least three words, or of however many that begins a line of the log. What a format puts in ("{}") may be anything; the page writes
"…" there. The page has a message if one of its code spans contains the message's fixed parts, in their order.

Of manifests, messages are those of admission policies, of the rules in the definition of GpuQuota, and of the chart's "fail", of however many words.
"""

import re

# Where messages to users are written, and what in there is none.
SOURCES = ("plugins", "scheduler", "k8s-client")
NOT_FOR_USERS = {
    "scheduler/config/defaults.cc": "a configuration, written in YAML",
    "scheduler/live/record/decode.cc": "of recordings, which the bench reads",
    "scheduler/live/record/gzip_member.cc": "the same",
    "scheduler/live/writes/bind_answer.cc": "what the API server says, to be recognised",
    "scheduler/server/ui/files.cc": "headers for browsers",
    "scheduler/kubectl-gpu/show": "what its tables say, which the page shows",
    "scheduler/kubectl-gpu/ui/ui.cc": "what stands beside the URL; the errors in there are of its options",
    "k8s-client/watch/watcher.cc": "what the API server says, to be recognised",
    "k8s-client/http/cpprest_transport_absent.cc": "the end of a program that is put together wrongly",
}
# A literal in such a statement is a help text or a format of the log.
HELP = re.compile(r"add_option\(|add_flag\(|add_\w*command\(|add_subcommand\(|set_version_flag\(|\b(?:counters|gauges|histograms)\(\s*registry|\bCLI::App app\(|set_pattern\(|description\(")
LOG_LINE = re.compile(r"LogLine(?: \w+)?\($")
CONTENT_TYPE = re.compile(r"[a-z]+/[a-z]+;")
OF_KUBECTL_GPU = ("scheduler/answers/", "scheduler/kubectl-gpu/", "scheduler/engine/questions/gpu_nodes.cc")
# Where the API server, or Helm, takes messages from. The chart's links to other folders are left out.
MANIFESTS = ("manifests/base", "manifests/policies", "manifests/chart/templates")
# Reasons and types of events and conditions are single words.
REASON_SOURCES = ("scheduler/engine/decision.h", "scheduler/live/writes/reporter.cc", "scheduler/quota/quota_report.cc")

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|\'(?:[^\'\\\n]|\\.)\'|"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', re.S)
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
PLACEHOLDER = re.compile(r"\{[^{}]*\}")
MANIFEST_MESSAGE = re.compile(r"^( *)(?:- )?(message|messageExpression): (>-\n(?:(?:\1 .*)?\n)+|[^\s{].*)", re.M)
CHART_FAIL = re.compile(r'\bfail "((?:[^"\\]|\\.)*)"')
WORD = re.compile(r"\S*[A-Za-z]\S+")


def literals(text):
    """(line, what stands before it in its statement, the string) of each string literal."""
    text = re.sub(r"^\s*#\s*(include|error|pragma)[^\n]*", "", text, flags=re.M)
    begin, before = 0, ""
    for token in TOKEN.finditer(text):
        between = text[begin:token.start()]
        begin = token.end()
        before = re.split(r"[;{}]", before + between)[-1]
        if token.group().startswith('"'):
            string = "".join(STRING.findall(token.group()))
            yield text.count("\n", 0, token.start()) + 1, before, re.sub(r"\\(.)", lambda escaped: "" if escaped[1] == "n" else escaped[1], string)


def messages(text):
    """(line, message) of each message in a source."""
    for line, before, string in literals(text):
        words = len(WORD.findall(PLACEHOLDER.sub(" ", string)))
        if LOG_LINE.search(before.rstrip()) or words >= 3 and not HELP.search(before) and not CONTENT_TYPE.match(string):
            yield line, string


def reasons(text):
    """(line, word) of each reason in a source: in CamelCase, of two words and more, or a condition's name."""
    for line, _, string in literals(text):
        if re.fullmatch(r"(?:[A-Z][a-z]+){2,}|Unschedulable|Ready", string):
            yield line, string


def unescaped(string):
    return re.sub(r"\\(.)", r"\1", string)


def expressed(expression):
    """What an expression in CEL puts together from strings: "{}" stands for all else, also for strings within parentheses."""
    parts, depth, begin = [], 0, 0
    for token in re.finditer(r'"((?:[^"\\]|\\.)*)"|[()]', expression):
        if token.group() in "()":
            depth += 1 if token.group() == "(" else -1
        elif depth == 0:
            parts += [expression[begin:token.start()].strip(" +"), unescaped(token[1])]
            begin = token.end()
    parts.append(expression[begin:].strip(" +"))
    return "".join(("{}" if part else "") if number % 2 == 0 else part for number, part in enumerate(parts))


def manifest_messages(text):
    """(line, message) of each message in a manifest."""
    for found in MANIFEST_MESSAGE.finditer(text):
        value = " ".join(found[3].removeprefix(">-").split())
        if not found[3].startswith(">-") and found[2] == "message" and value.startswith('"'):
            value = unescaped(value.strip('"'))
        yield text.count("\n", 0, found.start()) + 1, value if found[2] == "message" else expressed(value)
    for found in CHART_FAIL.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, unescaped(found[1])


def pattern(message):
    """A regular expression for code spans that have the message."""
    parts = [part.strip() for part in PLACEHOLDER.split(message)]
    return re.compile(".*?".join(re.escape(part) for part in parts if part), re.S)


def code_spans(page):
    """The code spans of a page, without those of blocks."""
    page = re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S)
    return [(a or b).strip() for a, b in re.findall(r"``\s(.+?)\s``|`([^`\n]+)`", page)]


def explained(message, spans):
    if len(WORD.findall(message)) < 3:  # others contain it
        return message in spans
    wanted = pattern(message)
    return any(wanted.search(span) for span in spans)


def missing(root, page, pages_on_kubectl_gpu):
    """FILE:LINE and text of all that the page does not explain, nor the others what is of kubectl gpu."""
    spans = code_spans(page)
    also = [span for other in pages_on_kubectl_gpu for span in code_spans(other)]
    for name in (*SOURCES, *NOT_FOR_USERS, *MANIFESTS, *REASON_SOURCES):
        if not any(root.glob(f"{name}*")):  # some begin the names of several
            yield f"tests/docs/messages.py names {name}, which is not there"
    for folder in SOURCES:
        for path in sorted(p for ext in ("*.cc", "*.h") for p in (root / folder).rglob(ext)):
            name = path.relative_to(root).as_posix()
            if name.startswith(tuple(NOT_FOR_USERS)):
                continue
            text = path.read_text(encoding="utf-8")
            wanted = list(messages(text)) + (list(reasons(text)) if name in REASON_SOURCES else [])
            for line, message in wanted:
                if not explained(message, spans + also if name.startswith(OF_KUBECTL_GPU) else spans):
                    yield f"{name}:{line}: docs/troubleshoot.md does not explain: {message}"
    for path in sorted(p for folder in MANIFESTS for p in (root / folder).rglob("*.yaml")):
        for line, message in manifest_messages(path.read_text(encoding="utf-8")):
            if not explained(message, spans):
                yield f"{path.relative_to(root).as_posix()}:{line}: docs/troubleshoot.md does not explain: {message}"


def self_test():
    """Why the check cannot fail, or nothing."""
    source = '''
        // "a comment that is no message"
        add("one {} of these " "messages", 'x');
        app.add_option("--flag", flag, "A help text of many words");
        two("words only", "of {} {}");
        LogLine("node released").with("by", "words only");
        decision.reason = "NoRoomAtAll";
    '''
    if (got := [m for _, m in messages(source)]) != ["one {} of these messages", "node released"]:
        return f"the messages are {got}"
    if (got := [r for _, r in reasons(source)]) != ["NoRoomAtAll"]:
        return f"the reasons are {got}"
    manifest = '''
        validations:
          - message: must be small
            messageExpression: >-
              "one " + (x ? "of" : "in") + " these" +
              y.join("or")
            reason: Forbidden
          - messageExpression: x + " is \\"none\\""
          - rule: size(self) < 9
            message: >-
              must be
              short
            reason: Forbidden
          - message: "must: be"
        status: {message: {type: string}}
            message: {type: string}
        {{- fail "no such \\"value\\"" }}
    '''
    want = ["must be small", "one {} these{}", '{} is "none"', "must be short", "must: be", 'no such "value"']
    if (got := [m for _, m in manifest_messages(manifest)]) != want:
        return f"the messages of manifests are {got}"
    spans = code_spans("see `one … of these messages` and\n```\none 2 of those\n```\n")
    if not explained("one {} of these messages", spans) or explained("one {} of those", spans) or explained("of these", spans):
        return "the page's code spans are not found"
    return None
