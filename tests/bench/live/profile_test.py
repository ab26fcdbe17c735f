"""What a profile's tables say, of made-up samples and moments."""
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "bench" / "live"))

import profile as tables  # noqa: E402
import stacks  # noqa: E402
import stages  # noqa: E402


class Stacks(unittest.TestCase):
    def test_the_part_named_nearest_to_the_top_has_it(self):
        samples = [
            (3.0, ["runtime.mallocgc", "encoding/json.Unmarshal", "net/http.serve"]),
            (1.0, ["runtime.mallocgc", "net/http.serve"]),
            (1.0, ["nobody.knows"]),
        ]
        self.assertEqual(stacks.by_part(samples, stacks.API_SERVER), [("JSON", 0.6), ("HTTP", 0.2), ("the rest", 0.2)])

    def test_parts_of_the_scheduler(self):
        for function, part in {
            "[kernel.kallsyms] futex_wake": "kernel: sleeping and waking, of two threads",
            "[kernel.kallsyms] tcp_sendmsg": "kernel: sockets",
            "libcrypto.so.3 aesni_gcm_decrypt": "TLS: encrypting and decrypting",
            "k8s::protobuf::read": "protobuf: reading pods",
            "k8s::protobuf::Writer::text": "protobuf: writing binds and events",
            "sched::Engine::step": "deciding",
            "sched::live::LogLine::info": "writing the log",
            "boost::asio::detail::scheduler::run": "Asio",
        }.items():
            self.assertEqual(stacks.by_part([(1, [function])], stacks.GPU_SCHEDULER), [(part, 1.0)])


def audited(resource, name, received, answered, code=201):
    about = {"namespace": "run-1", "name": name}
    about["resource"], _, about["subresource"] = resource.partition("/")
    return json.dumps({"objectRef": about, "responseStatus": {"code": code},
                       "requestReceivedTimestamp": f"2026-03-04T05:06:{received:09.6f}Z",
                       "stageTimestamp": f"2026-03-04T05:06:{answered:09.6f}Z"})


def seen(pod, created, bound):
    return {"pod": pod, "created": f"2026-03-04T05:06:{created:012.9f}Z", "bound": f"2026-03-04T05:06:{bound:012.9f}Z"}


class Stages(unittest.TestCase):
    def test_a_pods_time_is_told_apart(self):
        requests = stages.requests_by_namespace([
            audited("pods", "a", 1.0, 1.004), audited("pods/binding", "a", 1.010, 1.013),
            audited("pods/binding", "a", 5.0, 5.1, code=409)])
        held = stages.in_scheduler("2026 info bound pod=run-1/a uid=u node=n attempts=1 latency_ms=7\n")
        (latency, found), = stages.of_pods({"moments": [seen("a", 1.003, 1.015), seen("lost", 1.0, 2.0)]}, requests["run-1"], held)
        self.assertAlmostEqual(latency, 0.012, 6)
        for stage, want in {"created to seen": 0.003, "until its bind arrives": 0.007, "of this in the scheduler": 0.004,
                            "binding": 0.003, "until the bind is seen": 0.002}.items():
            self.assertAlmostEqual(found[stage], want, 6)

    def test_the_slowest_hundredth(self):
        pods = [(i, {"binding": i / 2}) for i in range(1, 301)]
        self.assertEqual(stages.summary(pods), {"seen created to seen bound": (150.5, 299), "binding": (75.25, 149.5)})


class Requests(unittest.TestCase):
    def test_counters_are_added_up_over_codes(self):
        self.assertEqual(tables.counters(
            'apiserver_request_total{code="201",resource="pods",subresource="binding",verb="POST"} 3\n'
            'apiserver_request_total{code="409",resource="pods",subresource="binding",verb="POST"} 1\n'
            'apiserver_request_total{code="0",resource="pods",subresource="",verb="WATCH"} 9\n'
            'apiserver_watch_events_total{group="",resource="pods"} 12\n'), {"POST pods/binding": 4, "changes of pods told to watches": 12})


if __name__ == "__main__":
    unittest.main()
