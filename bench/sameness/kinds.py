"""Which kinds of decisions there are among answers: what a corpus has tried, and what it has not."""

import collections
import json

# Words of decisions → what they show.
WORDS = [("holds node", "a node is held"), ("is Strict", "behind in a Strict quota"), ("is not valid", "a quota that makes no sense"),
         ("borrowed from cohort", "borrowed from a cohort"),
         (" borrowed in quota ", "borrowed in a quota of quotas"), ("is not known yet", "a namespace that is not known yet"),
         ("first in line", "first in line"), (" a pod, ", "more than one pod may have"), ("it can never give", "more than a quota ever gives"),
         ("has no GPU quota", "no quota, no GPUs"), ("is also served by DRA", "a class of devices that DRA serves, too"),
         ("There is room for ", "too little room for a group"),
         ("No preemption victims found", "no pod may be evicted"), ("PodDisruptionBudget(s) would be violated", "a budget protects pods"),
         ("PodDisruptionBudgets cannot be read", "budgets that cannot be read"),
         ("no GPU quota after preemption", "no quota, whoever goes"), ("preemptionPolicy=Never", "a pod that may not evict")]
# The same of plans that come to nothing.
UNDONE = [(" of its group: ", "because of another pod of its group"), ("fewer pods of its group", "too few of its group are left"),
          ("there is room elsewhere", "there is room elsewhere"), ("gets its room", "a pod of higher priority gets its room"),
          ("waited too long", "it took too long"), ("that was to leave the node stays", "a pod stays"),
          ("the room that was made is taken", "the room is taken"), ("its GPU quota has changed", "its quota has changed")]
PLUGINS = ["NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "GpuHealth", "GpuType", "MigFit",
           "GpuSharing", "UnsupportedConstraints", "VolumeRestrictions", "VolumeBinding", "PodTopologySpread", "InterPodAffinity", "DeviceClasses",
           "NodeVolumeLimits"]
# What the random worlds together must show; a test sees to it.
WANTED = (
    ["bind", "bind: charged", "bind: after a refusal or a failed bind", "bind: of several best scores normalised",
     "prepare", "not prepared", "not prepared: because of another pod of its group", "not prepared: there is room elsewhere",
     "evict", "evict: reclaims", "evict: only waits for pods that leave already", "bind: of a group",
     "refusal: Unschedulable", "refusal: GpuQuotaExceeded", "refusal: WaitingForPods",
     "advice: MigRepartition", "node: backed off", "node: backed off again", "node: proven", "node: released by time",
     "node: complaint", "node: complaint is over", "foreign GPU pod",
     "bind: charged, on a preferred node", "bind: charged, on a node with a soft taint"]
    + [f"bind: by {profile}" for profile in ("gpu-scheduler", "spreads", "draws", "owns")]
    + [f"by time alone: {kind}" for kind in ("bind", "unschedulable", "nodeReleased", "migRepartition")]
    + [f"refusal by {plugin}" for plugin in PLUGINS]
    + [f"words: {shows}" for _, shows in WORDS]
    + ["step: nothing to decide", "ask: explain", "ask: candidates", "ask: accounts", "accounts: something is borrowed"])


def kinds_of(said):
    """The kinds that one answer is of."""
    if "ask" in said:
        yield f"ask: {said['ask']}"
        if said["ask"] == "accounts" and any(quota["status"]["total"]["borrowed"] != "0" for quota in said["answer"]["quotas"]):
            yield "accounts: something is borrowed"
        return
    decision = said["step"]
    if decision is None:
        yield "step: nothing to decide"
        return
    (kind, what), = decision.items()
    yield from KINDS[kind](what)


def of_bind(bind):
    yield "bind"
    yield f"bind: by {bind['schedulerName']}"
    scores = {score["plugin"]: score["score"] for score in bind["scores"]}
    if bind.get("chargedAs"):
        yield "bind: charged"
        if scores.get("NodeAffinity", 0) > 0:
            yield "bind: charged, on a preferred node"
        if scores.get("TaintToleration", 100) < 100:
            yield "bind: charged, on a node with a soft taint"
    if bind["pod"]["name"].startswith("member"):
        yield "bind: of a group"
    if bind["attempts"] > 1:
        yield "bind: after a refusal or a failed bind"
    if scores.get("NodeAffinity", 0) > 0 and scores.get("TaintToleration", 0) > 0:
        yield "bind: of several best scores normalised"


def of_evict(evict):
    yield "evict"
    if any(victim.get("reclaimed") for victim in evict["victims"]):
        yield "evict: reclaims"
    if not evict["victims"]:
        waits = "pods are being deleted" in evict["message"]
        yield "evict: only waits for pods that leave already" if waits else "evict: takes over the room of a pod of lower priority"


def of_not_prepared(undone):
    yield "not prepared"
    for words, shows in UNDONE:
        if words in undone["message"]:
            yield f"not prepared: {shows}"


def of_refusal(refusal):
    yield f"refusal: {refusal['reason']}"
    for plugin in refusal["plugins"]:
        yield f"refusal by {plugin}"
    text = refusal["message"] + refusal["details"]
    for words, shows in WORDS:
        if words in text:
            yield f"words: {shows}"


KINDS = {
    "bind": of_bind,
    "prepare": lambda _: ["prepare"],
    "notPrepared": of_not_prepared,
    "evict": of_evict,
    "unschedulable": of_refusal,
    "foreignGpuPod": lambda _: ["foreign GPU pod"],
    "misnamedScheduler": lambda _: ["misnamed scheduler"],
    "nodeBackedOff": lambda what: ["node: backed off"] + (["node: backed off again"] if what["inARow"] > 1 else []),
    "nodeReleased": lambda what: ["node: proven" if what["proven"] else "node: released by time"],
    "migRepartition": lambda _: ["advice: MigRepartition"],
    "nodeComplaint": lambda what: ["node: complaint" if what["complaints"] else "node: complaint is over"],
}


def histogram(answers):
    """How often each kind occurs. `answers` in the order of the calls, None for what is no question."""
    counts, wakeup = collections.Counter(), None
    for answer in answers:
        said = json.loads(answer) if answer else {}
        counts.update(kinds_of(said) if said else ())
        # Between the step that named the time and the one at that time nothing has happened.
        if said.get("step") and wakeup is not None and said["at"] >= wakeup:
            counts[f"by time alone: {next(iter(said['step']))}"] += 1
        if "ask" not in said:
            wakeup = said.get("wakeup")
    return counts
