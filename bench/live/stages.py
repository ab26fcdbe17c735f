"""What a pod's time from creation to bind is spent on, from the outside.

The API server's audit log says when it received and answered each request, the watcher when it saw each pod created and bound,
and gpu-scheduler's log how long each pod was in its hands. All clocks are the machine's.

    seen created ──▶ bind received ──▶ bind answered ──▶ seen bound
          coming and deciding    binding           coming back
"""
import collections
import datetime
import json
import re
import statistics

STAGES = ("created to seen", "until its bind arrives", "of this in the scheduler", "binding", "until the bind is seen")


def moment(text):
    """Seconds since the epoch; fractions of any length."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    at = datetime.datetime.fromisoformat(whole + "+00:00").timestamp()
    return at + float("0." + fraction) if fraction else at


def requests_by_namespace(audit_log):
    """{namespace: {(resource, name): (received, answered)}} of successful creations of pods and binds."""
    found = collections.defaultdict(dict)
    for line in audit_log:
        entry = json.loads(line)
        about = entry.get("objectRef", {})
        resource = "/".join(filter(None, (about.get("resource"), about.get("subresource"))))
        if entry.get("responseStatus", {}).get("code") == 201 and resource != "events":
            times = moment(entry["requestReceivedTimestamp"]), moment(entry["stageTimestamp"])
            found[about.get("namespace")][resource, about.get("name")] = times
    return found


def in_scheduler(log):
    """{pod: seconds from its queueing to the answer of its bind}, to the millisecond."""
    lines = re.findall(r" bound pod=[^/ ]*/(\S+) .*latency_ms=(\d+)", log)
    return {pod: int(latency) / 1000 for pod, latency in lines}


def of_pods(run, requests, held):
    """[(latency, {stage: seconds})] of each pod that was bound."""
    pods = []
    for seen in run["moments"]:
        name = seen["pod"]
        create, bind = requests.get(("pods", name)), requests.get(("pods/binding", name))
        if create is None or bind is None or seen["bound"].startswith("0001"):
            continue
        created, bound = moment(seen["created"]), moment(seen["bound"])
        stages = {
            "created to seen": created - create[0],
            "until its bind arrives": bind[0] - created,
            "binding": bind[1] - bind[0],
            "until the bind is seen": bound - bind[1],
        }
        if name in held:
            stages["of this in the scheduler"] = max(0.0, held[name] - (bind[1] - bind[0]))
        pods.append((bound - created, stages))
    return sorted(pods, key=lambda pod: pod[0])


def summary(pods):
    """{stage: (median of all, mean of the slowest hundredth)} in seconds; the whole latency is "seen created to seen bound"."""
    slowest = pods[-max(1, len(pods) // 100):]
    whole = (statistics.median(latency for latency, _ in pods), statistics.mean(latency for latency, _ in slowest))
    rows = {"seen created to seen bound": whole}
    for stage in STAGES:
        if stage in pods[0][1]:
            rows[stage] = (statistics.median(stages.get(stage, 0) for _, stages in pods),
                           statistics.mean(stages.get(stage, 0) for _, stages in slowest))
    return rows
