"""Where processor time goes: sampled stacks, each put down to one part of the program.

A stack belongs to the part that is named nearest to its top, so that memory taken while a pod is
decoded is decoding. What no part claims is "the rest".
"""
import collections
import re
import subprocess

# Parts in Go programs: (part, pattern of a function). The first pattern that fits a function wins.
_GO_RUNTIME = [
    ("collecting garbage", r"^runtime\.(gcBgMarkWorker|gcAssistAlloc|bgsweep|bgscavenge|gcStart)"),
    ("switching goroutines, timers, polling", r"^runtime\.(schedule|findRunnable|mcall|park_m|goready|ready|mstart|sysmon|netpoll)"),
    ("growing stacks", r"^runtime\.(newstack|copystack)"),
]
API_SERVER = _GO_RUNTIME + [
    ("client certificates", r"^crypto/x509\."),
    ("tokens", r"authentication/(token|request/bearertoken)|serviceaccount"),
    ("TLS, sockets included", r"^crypto/tls\."),
    ("talking to etcd", r"^go\.etcd\.io/|^google\.golang\.org/grpc|apiserver/pkg/storage/etcd3"),
    ("tracking managed fields", r"managedfields|structured-merge-diff"),
    ("JSON", r"serializer/json|^encoding/json|sigs\.k8s\.io/json|json-iterator"),
    ("protobuf", r"serializer/protobuf|\.(Unmarshal|MarshalToSizedBuffer|MarshalTo|Size)$"),
    ("serving watches",
     r"storage/cacher|endpoints/handlers\.(\(\*WatchServer|\(\*watch|newWatch|serveWatch)|handlers\.handleWatch|client-go/tools/cache"),
    ("flow control", r"util/flowcontrol|filters\.\(\*priorityAndFairness"),
    ("authorization", r"authorization/|authorizer|rbac"),
    ("admission and validation", r"admission|validation\.|\.Validate"),
    ("audit log", r"/audit|plugin/buffered|filters\.processAuditEvent"),
    ("metrics and tracing", r"prometheus|component-base/metrics|opentelemetry|endpoints/metrics"),
    ("copying and defaulting objects", r"DeepCopy|SetObjectDefaults|[cC]onvert_|runtime\.\(\*Scheme\)"),
    ("storing: the rest", r"registry/"),
    ("HTTP", r"^net/http|^golang\.org/x/net|^bufio|^net/textproto"),
    ("handling requests: the rest", r"apiserver/pkg/(server|endpoints)|go-restful|kube-aggregator"),
]
ETCD = _GO_RUNTIME + [
    ("Raft and its log", r"etcd/server/v3/storage/wal|go\.etcd\.io/raft|etcdserver\.\(\*raftNode|snapshot"),
    ("the key-value store", r"storage/mvcc|storage/backend|bbolt|etcdserver/(apply|txn)|btree"),
    ("protobuf", r"protobuf|etcdserverpb|mvccpb|\.(Unmarshal|Marshal)"),
    ("gRPC", r"google\.golang\.org/grpc|golang\.org/x/net/http2|^net/http"),
    ("requests: the rest", r"etcdserver|etcd/server"),
]
# Parts of gpu-scheduler, most of which are its folders. Of the kernel's work there are two kinds.
GPU_SCHEDULER = [
    ("kernel: sleeping and waking, of two threads", r"^\[kernel\S* .*(schedule|epoll|futex|try_to_wake|wake_up_q|eventfd)"),
    ("kernel: sockets", r"^\[kernel\S* .*(tcp_|inet_|sock|sendto|recvfrom|sendmsg|recvmsg|netif|ip_)"),
    ("kernel: the rest", r"^\[kernel\S* (entry_|asm_|ret_from)"),
    ("TLS: encrypting and decrypting", r"^lib(crypto|ssl)"),
    ("writing the log", r"^spdlog|LogLine"),
    ("protobuf: reading pods", r"^k8s::protobuf::(?!Writer|document)|Decoder::watch_message"),
    ("protobuf: writing binds and events", r"k8s::binding_body|k8s::event_body|protobuf::(Writer|document)"),
    ("JSON", r"simdjson|nlohmann|k8s::Decoder|k8s::json::|_patch\b"),
    ("handing over between the threads", r"EventQueue|EngineThread|variant<sched::event|engine_hooks"),
    ("deciding", r"^sched::Engine|^sched::(?!live|server)|^plugins::"),
    ("keeping events", r"EventRecorder|make_acceptable|series_key"),
    ("telling: conditions, metrics", r"sched::live::(Reporter|StatusWriter)|sched::server"),
    ("binds", r"sched::live::Binder"),
    ("watches", r"Reflector|FrameSplitter|LineSplitter|sched::live::Intake"),
    ("HTTP", r"k8s::http::(Request|Response|Connection|Send|Stream|Exchange|AsioConnection|\(anonymous namespace\)::Pooled)|beast|k8s::Client"),
    ("Asio", r"boost::asio"),
]


def of_pprof(path):
    """Yields (seconds, functions from the top) of a profile of a Go program."""
    text = subprocess.run(["go", "tool", "pprof", "-traces", path], check=True, capture_output=True, text=True).stdout
    weight, stack = 0.0, []
    for line in text.splitlines():
        if line.startswith("-----------+"):
            if stack:
                yield weight, stack
            weight, stack = 0.0, []
            continue
        first = re.match(r"^ *([\d.]+)(ms|s|us|ns|mins) +(\S.*)$", line)
        if first:
            unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "mins": 60}[first[2]]
            weight, stack = float(first[1]) * unit, [first[3].removesuffix(" (inline)")]
        elif stack and line.startswith("   "):
            stack.append(line.strip().removesuffix(" (inline)"))
    if stack:
        yield weight, stack


def of_perf(path):
    """Yields (1, functions from the top) for each sample; those of libraries have the library's name in front."""
    command = ["perf", "script", "-i", path, "--no-inline", "-F", "comm,ip,sym,dso"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for block in text.split("\n\n"):
        frames = re.findall(r"^\s+[0-9a-f]+ (.*) \((\S+)\)$", block, re.MULTILINE)
        if frames:
            yield 1.0, [(name if "gpu-scheduler" in library else library.rsplit("/", 1)[-1] + " " + name) for name, library in frames]


def by_part(samples, parts):
    """Shares of the parts, the greatest first: [(part, share)]."""
    compiled = [(part, re.compile(pattern)) for part, pattern in parts]
    taken, total = collections.Counter(), 0.0
    for weight, stack in samples:
        part = next((part for function in stack for part, pattern in compiled if pattern.search(function)), "the rest")
        taken[part] += weight
        total += weight
    return [(part, weight / total) for part, weight in taken.most_common()]
