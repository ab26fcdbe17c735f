"""Where a C++ source can be changed a little: its mutants, each as insertions into the text.

No compiler is asked. The tree is laid out by clang-format, so an operator with a space on either side is
a binary one and a `<` without them opens template arguments; brackets tell the rest. A change that does not
compile is left out by mutants.py.
"""
import bisect
import re

TOKEN = re.compile(
    r"""(?P<space>\s+)
      |(?P<comment>//[^\n]*|/\*.*?\*/)
      |(?P<string>(?:u8|u|U|L)?R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|(?:u8|u|U|L)?"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      |(?P<number>(?:0[xX][0-9a-fA-F']+|\d[\d']*(?:\.\d+)?)\w*)
      |(?P<word>[A-Za-z_]\w*)
      |(?P<op><=>|->\*|<<=|::|\+\+|--|->|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|\.\.\.|<<|.)
    """,
    re.S | re.X)

OPEN = {"(": ")", "[": "]", "{": "}"}
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<="}
RELATION = {"<": "less", "<=": "less_or_equal", ">": "greater", ">=": "greater_or_equal", "==": "equal",
            "!=": "not_equal"}
BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
# Where the operand of an operator ends, seen at the same depth of brackets.
STOP_WORDS = {"return", "case", "else", "do", "throw", "co_return", "goto", "delete"}
# Types of which {} is a value.
EMPTY = re.compile(r"(const )?(std :: (optional|string|string_view|vector|map|set|unique_ptr|shared_ptr|u?int\d+_t|size_t)\b"
                   r"|int$|unsigned$|double$|Time$|NodeSlot$|ChangeMask$|WaitsFor$|.* \*$)")
KEYWORDS = STOP_WORDS | {
    "if", "for", "while", "switch", "break", "continue", "using", "typedef", "static_assert", "const", "constexpr",
    "auto", "static", "struct", "class", "enum", "union", "namespace", "template", "public", "private", "protected",
    "friend", "virtual", "explicit", "inline", "extern", "default", "requires", "typename", "try", "catch", "operator",
    "bool", "int", "unsigned", "char", "double", "void", "static_cast", "mutable", "sizeof", "new", "this"}


class Token:
    __slots__ = ("kind", "text", "start", "end", "spaced", "mate", "code", "function")

    def __init__(self, kind, text, start, end):
        self.kind, self.text, self.start, self.end = kind, text, start, end
        self.spaced = False    # white space on both sides
        self.mate = None       # index of the other bracket
        self.code = False      # inside the body of a function
        self.function = None   # of a body's tokens: the type that the function returns, as text


class Mutant:
    """What: words for people. Edits: (position, order, text) insertions and (start, end, text) replacements."""

    def __init__(self, path, line, kind, before, after):
        self.path, self.line, self.kind = path, line, kind
        self.before, self.after = before, after
        self.number = None
        self.wraps = []      # (start, end, text before, text after)
        self.replaces = []   # (start, end, text)

    def words(self):
        return f"{self.kind}: {self.before} → {self.after}"


def tokens_of(text):
    tokens, at, start_of_line = [], 0, True
    while at < len(text):
        if start_of_line and text[at] == "#":  # of the preprocessor, with its continuations
            end = re.compile(r"(?:[^\n\\]|\\.)*", re.S).match(text, at).end()
            at = end
            continue
        match = TOKEN.match(text, at)
        kind = match.lastgroup if match.lastgroup != "raw" else "string"
        if kind == "space":
            start_of_line = start_of_line or "\n" in match.group()
        else:
            start_of_line = False
            if kind != "comment":
                tokens.append(Token(kind, match.group(), match.start(), match.end()))
        at = match.end()
    for token in tokens:
        before = text[token.start - 1] if token.start else " "
        after = text[token.end] if token.end < len(text) else " "
        token.spaced = before.isspace() and after.isspace()
    return tokens


def match_brackets(tokens):
    stack = []
    for i, token in enumerate(tokens):
        text = token.text
        if token.kind != "op":
            continue
        if text in OPEN:
            stack.append(i)
        elif text in (")", "]", "}"):
            while stack and tokens[stack[-1]].text == "<":
                stack.pop()
            if stack:
                token.mate = stack.pop()
                tokens[token.mate].mate = i
        elif text == "<" and not token.spaced and i and tokens[i - 1].text != "operator" or (
                text == "<" and i and tokens[i - 1].text == "template"):
            stack.append(i)
        elif text == ">" and not token.spaced or text == ">" and stack and tokens[stack[-1]].text == "<":
            if stack and tokens[stack[-1]].text == "<":
                token.mate = stack.pop()
                tokens[token.mate].mate = i
        elif text == ";":
            while stack and tokens[stack[-1]].text == "<":
                stack.pop()


def header_of(tokens, brace):
    """The tokens that stand before a `{`, from the end of what was before."""
    first = brace
    while first > 0:
        text = tokens[first - 1].text
        if text in (")", "]", ">") and tokens[first - 1].mate is not None:
            first = tokens[first - 1].mate
            continue
        if text == "}" and tokens[first - 1].mate is not None and tokens[tokens[first - 1].mate - 1].kind == "word" and \
                tokens[first].text == ",":
            first = tokens[first - 1].mate  # of a constructor's initialisers
            continue
        if text in (";", "{", "}", "(", "[") or text == ":" and tokens[first - 2].text in (
                "public", "private", "protected"):
            break
        first -= 1
    return tokens[first:brace]


def kind_of_brace(tokens, brace):
    """"code", "scope" (class, namespace, enum) or "list"; and what a function returns."""
    before = tokens[brace - 1].text if brace else ";"
    header = header_of(tokens, brace)
    texts = [token.text for token in header]
    if before in ("else", "do", "try"):
        return "code", None
    if any(word in texts for word in ("namespace", "class", "struct", "enum", "union")) and "(" not in texts:
        return "scope", None
    if "extern" in texts and len(texts) == 2:
        return "scope", None
    if before in (";", "{", "}") or before == ":" and texts and texts[0] in ("case", "default"):
        return "code", None
    if before in (")", "const", "noexcept", "override", "final", "mutable") or "->" in texts and ")" in texts:
        return "code", returned_by(header)
    return "list", None


def returned_by(header):
    """The text of the type before a function's name; None for a lambda or a control statement."""
    texts = [token.text for token in header]
    if not texts or texts[0] in ("if", "for", "while", "switch", "catch", "else") or "(" not in texts:
        return None
    last = len(texts) - 1
    while texts[last] != ")":
        last -= 1
    depth = 0
    while depth != 0 or texts[last] == ")" and depth == 0:
        depth += (texts[last] == ")") - (texts[last] == "(")
        if depth == 0:
            break
        last -= 1
    if texts[last - 1] == "]":
        return None  # a lambda
    at = texts.index("(")
    if at == 0 or texts[at - 1] == "]" or "operator" in texts:
        return None
    while at >= 3 and texts[at - 2] == "::":
        at -= 2
    first = 0
    while first < at - 1:
        if texts[first] == "[" and header[first].mate is not None:
            while texts[first] != "]" or texts[first + 1: first + 2] == ["]"]:
                first += 1
            first += 1
        elif texts[first] == "template":
            depth = 0
            while True:
                first += 1
                depth += (texts[first] == "<") - (texts[first] == ">")
                if depth == 0:
                    first += 1
                    break
        elif texts[first] in ("static", "inline", "virtual", "constexpr", "explicit", "friend"):
            first += 1
        else:
            break
    kind = " ".join(texts[first:at - 1])
    return kind or None


def mark_bodies(tokens):
    stack = []  # (kind, returned type)
    for i, token in enumerate(tokens):
        if token.text == "{" and token.kind == "op":
            kind, returned = kind_of_brace(tokens, i)
            if kind == "list":
                kind, returned = stack[-1] if stack else ("scope", None)
            elif kind == "code":
                before = header_of(tokens, i)
                texts = [each.text for each in before]
                is_control = not texts or texts[0] in ("if", "for", "while", "switch", "else", "do", "try", "catch",
                                                       "case", "default") or "(" not in texts
                if returned is None and is_control and stack:
                    returned = stack[-1][1]
            stack.append((kind, returned))
        elif token.text == "}" and token.kind == "op" and stack:
            stack.pop()
        if stack and stack[-1][0] == "code":
            token.code, token.function = True, stack[-1][1]


def precedence(token):
    """Of what may stand between operands; None where it does not end one."""
    text = token.text
    if token.kind == "op":
        if text in (";", ",", "{", "?", ":") or text in ASSIGN:
            return 0
        if text == "||":
            return 1
        if text == "&&" and token.spaced:
            return 2
        if text in ("|", "^", "&") and token.spaced:
            return 3
        if text in ("==", "!="):
            return 4
        if text in ("<", ">", "<=", ">=") and token.spaced and token.mate is None:
            return 5
        if text == "<=>":
            return 6
    elif token.text in STOP_WORDS:
        return 0
    return None


def operand_before(tokens, i, at_least):
    """First token of the operand that ends before i, of operators that bind more than `at_least`."""
    first = i
    while first > 0:
        token = tokens[first - 1]
        if token.text in (")", "]", "}", ">") and token.mate is not None:
            first = token.mate
            # `if (…) x < y` is no call.
            continue
        if token.kind == "op" and token.text in ("(", "[", "<") and (token.mate is not None):
            break
        level = precedence(token)
        if level is not None and level < at_least or token.text == "}":
            break
        first -= 1
    while first < i and tokens[first].text == "if":
        first += 1
    return first


def operand_after(tokens, i, more_than):
    """One past the last token of the operand that begins after i."""
    last = i + 1
    while last < len(tokens):
        token = tokens[last]
        if token.text in OPEN and token.kind == "op" and token.mate is not None or (
                token.text == "<" and token.mate is not None):
            if token.text == "{" and tokens[last - 1].text == ")":
                break
            last = token.mate + 1
            continue
        if token.text in (")", "]", "}") or token.text == ">" and token.mate is not None:
            break
        level = precedence(token)
        if level is not None and level <= more_than:
            break
        last += 1
    return last


class Source:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = tokens_of(text)
        match_brackets(self.tokens)
        mark_bodies(self.tokens)
        self.lines = [0] + [match.end() for match in re.finditer("\n", text)]
        self.mutants = []
        self.constexpr_until = -1
        for i, token in enumerate(self.tokens):
            self.look_at(i, token)

    def line_of(self, position):
        return bisect.bisect_right(self.lines, position)

    def said(self, start, end, most=70):
        words = " ".join(self.text[start:end].split())
        return words if len(words) <= most else words[:most - 1] + "…"

    def add(self, token, kind, before, after):
        mutant = Mutant(self.path, self.line_of(token.start), kind, before, after)
        self.mutants.append(mutant)
        return mutant

    def look_at(self, i, token):
        if token.text in ("constexpr", "static_assert", "case", "requires", "consteval", "concept"):
            # What the compiler computes does not change at run time.
            last = i
            while last < len(self.tokens) and self.tokens[last].text not in (";", "{", ":"):
                last += 1
            if token.text == "constexpr" and last < len(self.tokens) and self.tokens[last].text == "{" and \
                    kind_of_brace(self.tokens, last)[0] == "list":
                last = self.tokens[last].mate or last
            self.constexpr_until = last
        if i <= self.constexpr_until or not token.code:
            return
        if token.kind == "op":
            if token.text in RELATION and token.spaced and token.mate is None:
                self.relation(i, token)
            elif token.text in ("&&", "||") and token.spaced:
                self.logic(i, token)
            elif token.text == "!" and self.tokens[i - 1].text not in ("operator",):
                self.negation(i, token)
            elif token.text == "?" and token.spaced:
                self.ternary(i, token)
        elif token.kind == "number":
            self.constant(i, token)
        elif token.text in ("min", "max") and self.text[token.start - 5:token.start] == "std::":
            self.extreme(i, token)
        elif token.text == "if":
            self.condition(i)
        elif token.text == "return":
            self.result(i, token)
        self.statement(i, token)

    def operands(self, i, level):
        first = operand_before(self.tokens, i, level)
        last = operand_after(self.tokens, i, level)
        return first, last

    def relation(self, i, token):
        first, last = self.operands(i, 4 if token.text in ("==", "!=") else 5)
        if first >= i or last <= i + 1:
            return
        start, end = self.tokens[first].start, self.tokens[last - 1].end
        mutant = self.add(token, "relation", self.said(start, end), BOUNDARY[token.text])
        mutant.wraps.append((start, end, f"mutants::{RELATION[token.text]}<@>(", ")"))
        mutant.replaces.append((token.start, token.end, ","))

    def logic(self, i, token):
        first, last = self.operands(i, 2 if token.text == "&&" else 1)
        if first >= i or last <= i + 1:
            return
        start, end = self.tokens[first].start, self.tokens[last - 1].end
        other = "||" if token.text == "&&" else "&&"
        mutant = self.add(token, "logic", self.said(start, end), other)
        mutant.wraps.append((start, end, "(((static_cast<bool>(", ") != mutants::on(@))) != mutants::on(@))"))
        mutant.replaces.append(
            (token.start, token.end, f") != mutants::on(@)) {token.text} (static_cast<bool>("))

    def negation(self, i, token):
        last = i + 1
        while last < len(self.tokens):
            each = self.tokens[last]
            if each.text in ("(", "[") or each.text == "{" and self.tokens[last - 1].kind == "word":
                last = each.mate + 1
            elif each.text == "<" and each.mate is not None:
                last = each.mate + 1
            elif each.kind == "word" or each.text in ("::", ".", "->"):
                last += 1
            elif each.text in ("*", "!") and last == i + 1:
                last += 1
            else:
                break
        start, end = token.start, self.tokens[last - 1].end
        # A condition as a whole is negated by condition().
        if self.tokens[i - 1].text == "(" and self.tokens[i - 1].mate == last and self.tokens[i - 2].text == "if":
            return
        mutant = self.add(token, "negation", self.said(start, end), self.said(start + 1, end))
        mutant.wraps.append((start, end, "(", " != mutants::on(@))"))

    def ternary(self, i, token):
        first = operand_before(self.tokens, i, 1)
        if first >= i:
            return
        start, end = self.tokens[first].start, self.tokens[i - 1].end
        mutant = self.add(token, "condition", self.said(start, end), "its negation")
        mutant.wraps.append((start, end, "(static_cast<bool>(", ") != mutants::on(@))"))

    def condition(self, i):
        open_at = i + 1
        if self.tokens[open_at].text != "(" or self.tokens[open_at].mate is None:
            return
        close = self.tokens[open_at].mate
        first = open_at + 1
        depth_end = first
        only = []
        while depth_end < close:
            each = self.tokens[depth_end]
            if each.text == ";":
                first, only = depth_end + 1, []
                depth_end += 1
                continue
            only.append(each)
            depth_end = each.mate + 1 if each.text in ("(", "[", "{", "<") and each.mate is not None else depth_end + 1
        if any(each.text == "=" for each in only):
            return  # a declaration
        relations = [each for each in only if each.text in ("==", "!=") and each.spaced]
        logics = [each for each in only if each.text in ("&&", "||") and each.spaced]
        if len(relations) == 1 and not logics:
            return  # relation() has that one
        start, end = self.tokens[first].start, self.tokens[close - 1].end
        mutant = self.add(self.tokens[i], "condition", self.said(start, end), "its negation")
        mutant.wraps.append((start, end, "(static_cast<bool>(", ") != mutants::on(@))"))

    def constant(self, i, token):
        if not re.fullmatch(r"(\d[\d']*|0[xX][0-9a-fA-F']+)[uUlLzZ]*", token.text):
            return
        before, after = self.tokens[i - 1], self.tokens[i + 1]
        if before.text == "<" and before.mate is not None or after.text == ">" and after.mate is not None:
            return  # a template argument
        line = self.line_of(token.start)
        end = self.lines[line] if line < len(self.lines) else len(self.text)
        mutant = self.add(token, "constant", self.said(self.lines[line - 1], end), f"{token.text} + 1")
        mutant.wraps.append((token.start, token.end, "(", " + mutants::one(@))"))

    def extreme(self, i, token):
        other = "max" if token.text == "min" else "min"
        after = self.tokens[i + 1]
        if after.text == "(":
            if self.tokens[i + 2].text == "{":
                return
            call = f"mutants::{token.text}<@>"
            mutant = self.add(token, "extreme", self.said(token.start - 5, self.tokens[after.mate].end), f"std::{other}")
            mutant.replaces.append((token.start - 5, token.end, call))
        elif after.text == "<" and after.mate is not None:
            close = self.tokens[self.tokens[after.mate + 1].mate]
            mutant = self.add(token, "extreme", self.said(token.start - 5, close.end), f"std::{other}")
            mutant.replaces.append((token.start - 5, after.end, f"mutants::{token.text}<@, "))

    def statement_end(self, i):
        last = i
        while last < len(self.tokens):
            each = self.tokens[last]
            if each.text == ";":
                return last
            if each.text in ("(", "[", "{") and each.mate is not None:
                last = each.mate + 1
                continue
            if each.text in (")", "}", "]"):
                return None
            last += 1
        return None

    def result(self, i, token):
        end_at = self.statement_end(i)
        if end_at is None or end_at == i + 1 or token.function is None:
            return
        first = self.tokens[i + 1]
        start, end = first.start, self.tokens[end_at - 1].end
        value = self.text[start:end]
        kind = token.function
        if kind == "bool":
            words = [each.text for each in self.tokens[i + 1:end_at]]
            if any(each in ("==", "!=") for each in words) and not any(each in ("&&", "||", "?") for each in words):
                return
            mutant = self.add(token, "result", self.said(start, end), "its negation")
            mutant.wraps.append((start, end, "(static_cast<bool>(", ") != mutants::on(@))"))
            return
        if not EMPTY.match(kind) or kind.endswith("&") or "auto" in kind:
            return
        if value in ("0", "nullptr", "std::nullopt", '""') or value.startswith("{") and value.endswith("{}"):
            return
        if value.endswith("{}") or value.endswith("()") and value[:-2] == kind:
            return
        mutant = self.add(token, "result", self.said(start, end), "{}")
        stop = self.tokens[end_at].end
        mutant.wraps.append((token.start, stop, "{ if (mutants::on(@)) return {}; ", " }"))

    def statement(self, i, token):
        """A call for its effect, an assignment, a step: left out."""
        before = self.tokens[i - 1]
        if not (before.text in (";", "{", "}", "else", "do") or before.text == ":" and self.is_case(i - 1) or
                before.text == ")" and self.tokens[before.mate - 1].text in ("if", "for", "while", "switch")):
            return
        if before.text == ";" and self.inside_for(i):
            return
        if before.text == "{" and kind_of_brace(self.tokens, i - 1)[0] != "code":
            return
        if token.text in KEYWORDS and token.text != "this" or token.kind not in ("word", "op"):
            return
        end_at = self.statement_end(i)
        if end_at is None:
            return
        if token.text in ("++", "--"):
            pass
        elif token.kind == "word" or token.text in ("*", "("):
            last = i + 1
            while last < end_at:
                each = self.tokens[last]
                if each.text in ("(", "[") or each.text == "<" and each.mate is not None:
                    last = each.mate + 1
                elif each.kind == "word" and self.tokens[last - 1].kind == "word":
                    return  # a declaration
                elif each.kind == "word" and self.tokens[last - 1].text in (">", "*", "&", "]"):
                    if token.text != "*":
                        return
                    last += 1
                elif each.kind == "word" or each.text in ("::", ".", "->"):
                    last += 1
                elif each.text in ASSIGN:
                    if self.tokens[last + 1].text in ("delete", "default"):
                        return
                    last = end_at
                else:
                    break
            if last != end_at:
                if not (self.tokens[last].text in ("++", "--") and last + 1 == end_at):
                    return
            elif self.tokens[end_at - 1].text != ")" and not any(
                    each.text in ASSIGN for each in self.tokens[i:end_at]):
                return
        else:
            return
        start, end = token.start, self.tokens[end_at].end
        mutant = self.add(token, "statement", self.said(start, end), "left out")
        mutant.wraps.append((start, end, "{ if (!mutants::on(@)) ", " }"))

    def is_case(self, colon):
        at = colon
        while at > 0 and self.tokens[at].text not in (";", "{", "}", "?"):
            if self.tokens[at].text in ("case", "default"):
                return True
            at -= 1
        return False

    def inside_for(self, i):
        at, depth = i - 1, 0
        while at > 0:
            text = self.tokens[at].text
            if text in (")", "}") and self.tokens[at].mate is not None:
                at = self.tokens[at].mate
            elif text == "(":
                return self.tokens[at - 1].text in ("for", "if", "while")
            elif text == "{":
                return False
            at -= 1
        return False


def rewritten(source, mutants):
    """The text with all of these mutants in it, each to be switched on by its number."""
    opens, closes, replaced = [], [], {}
    for index, mutant in enumerate(mutants):
        number = str(mutant.number)
        # Around the same words, an operator is inside what is done to its result.
        rank = (mutant.kind in ("relation", "logic"), index)
        for start, end, before, after in mutant.wraps:
            opens.append((start, -(end - start), rank, before.replace("@", number)))
            closes.append((end, end - start, (-rank[0], -rank[1]), after.replace("@", number)))
        for start, end, text in mutant.replaces:
            replaced[start] = (end, text.replace("@", number))
    # At one place: first what ends there, the inner before the outer; then what begins, the outer first.
    inserts = [(at, 0, *rest) for at, *rest in closes] + [(at, 1, *rest) for at, *rest in opens]
    inserts.sort(key=lambda each: each[:4])
    out, at = [], 0
    stops = sorted({each[0] for each in inserts} | set(replaced))
    by_place = {}
    for place, *_, text in inserts:
        by_place.setdefault(place, []).append(text)
    for stop in stops:
        if stop > at:
            out.append(source.text[at:stop])
            at = stop
        out.extend(by_place.get(stop, ()))
        if stop in replaced:
            end, text = replaced[stop]
            out.append(text)
            at = end
    out.append(source.text[at:])
    return "".join(out)
