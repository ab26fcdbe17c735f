"""What the pages say of the fields of a GpuQuota, and what its definition (CRD) says of them itself.

scheduler/quota/README.md has two tables, of the spec's fields and of the conditions: both have exactly what the definition has. The page also names each field of
the status. Each field has a description, which `kubectl explain` shows.
"""

import re

import messages

KEY = re.compile(r"^( *)(?:- )?([\w-]+):(.*)$")
CELL = re.compile(r"`([^`]+)`")
# Types of Kubernetes' own, whose fields are described there.
OF_KUBERNETES = ("spec.namespaceSelector.", "status.conditions.")
OF_EVERY_OBJECT = ("apiVersion", "kind", "metadata")


def fields(crd):
    """The fields of a definition, by their paths ("spec.quotas.limit"), with their descriptions. Fields that an alias merges in are left out."""
    found, above, folded = {}, [], None  # above: indentation and key of the lines that this one stands in
    for line in crd.splitlines():
        indent = len(line) - len(line.lstrip())
        if folded and (not line.strip() or indent > folded[0]):
            found[folded[1]] = f"{found[folded[1]]} {line.strip()}".strip()
            continue
        folded = None
        if not (match := KEY.match(line)) or line.lstrip().startswith("#"):
            continue
        key, value = match[2], match[3].strip()
        above = [(at, name) for at, name in above if at < indent] + [(indent, key)]
        names = [name for _, name in above]
        path = ".".join(name for parent, name in zip(names, names[1:]) if parent == "properties")
        if names[-2:-1] == ["properties"]:
            found[path] = ""
        elif key == "description" and path in found:
            found[path] = "" if value == ">-" else value
            folded = (indent, path)
    return found


def first_column(page, heading):
    """The code in the first column of the page's table with that heading."""
    rows = page.partition(f"| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return {name.removeprefix("quotas[].").removeprefix(".") for row in rows for name in CELL.findall(row.split("|")[1])}


def differences(crd, page):
    known = fields(crd)
    spec = {path.rpartition(".")[2] for path in known if path.startswith("spec.") and not path.startswith(OF_KUBERNETES)} - {"quotas"}
    conditions = set(re.findall(r"\b([A-Z]\w+): ", known.get("status.conditions", "")))
    for what, has, told in [("field of spec", spec, first_column(page, "field of `spec`")), ("condition", conditions, first_column(page, "condition"))]:
        if not has:
            yield f"the definition has no {what} any more"
        yield from (f"scheduler/quota/README.md does not tell of the {what} {name}" for name in sorted(has - told))
        yield from (f"scheduler/quota/README.md tells of the {what} {name}, which the definition does not have" for name in sorted(told - has))
    code = set(re.findall(r"\w+", " ".join(messages.code_spans(page))))
    for path in known:
        if path.startswith(OF_KUBERNETES) or path in OF_EVERY_OBJECT:
            continue
        if not known[path]:
            yield f"the field {path} has no description"
        if path.startswith("status.") and path.rpartition(".")[2] not in code:
            yield f"scheduler/quota/README.md does not tell of {path}"


def self_test():
    """Why the check cannot fail, or nothing."""
    crd = """
    schema:
      openAPIV3Schema:
        description: An object.
        properties:
          kind: {type: string}
          spec:
            description: The wish.
            properties:
              weight:
                description: >-
                  How much:
                  of it.
                rule: |
                  nothing: here
              quotas:
                description: Lines.
                items:
                  properties:
                    limit: &amount {type: string}
          status:
            description: What is.
            properties:
              used: {type: string, description: none}
              conditions:
                description: >-
                  Ready: yes. OverLimit: no.
                items:
                  properties:
                    type: {type: string}
"""
    want = {"kind": "", "spec": "The wish.", "spec.weight": "How much: of it.", "spec.quotas": "Lines.", "spec.quotas.limit": "", "status": "What is.",
            "status.used": "", "status.conditions": "Ready: yes. OverLimit: no.", "status.conditions.type": ""}
    if (got := fields(crd)) != want:
        return f"the fields are {got}"
    page = ("`conditions`\n| field of `spec` | a |\n| --- | --- |\n| `weight`, `quotas[].limits` | b |\n\n`used` of\n"
            "| condition | c |\n| --- | --- |\n| `Ready` | d `Not` |\n\n")
    readme = "scheduler/quota/README.md"
    want = [f"{readme} does not tell of the field of spec limit", f"{readme} tells of the field of spec limits, which the definition does not have",
            f"{readme} does not tell of the condition OverLimit", "the field spec.quotas.limit has no description", "the field status.used has no description"]
    if (got := list(differences(crd, page))) != want:
        return f"the differences are {got}"
    return None
