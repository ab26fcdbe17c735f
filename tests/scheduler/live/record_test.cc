// A recording reads back as what was recorded.
#include "scheduler/live/record/record.h"

#include "scheduler/live/record/recorder.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"
#include "tests/support/paths.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using sched::Event;
using sched::PodRef;
using sched::Time;
using sched::live::AppliedCall;
using sched::live::EngineCall;
using sched::live::StepCall;
namespace event = sched::event;

constexpr Time kAt{std::chrono::microseconds(1'767'225'600'000'123)};

std::vector<Event> one_of_each() {
  const PodRef ref{"ml", "a \"quoted\" name", "uid-1"};
  k8s::DeviceClass device_class;
  device_class.metadata.name = "gpu.nvidia.com";
  device_class.extended_resource_name = "nvidia.com/gpu";
  const auto named = []<typename Object>(Object object) {
    object.metadata.name = "x";
    return event::Upserted<Object>{object};
  };
  return {event::NodeUpserted{tests::node("n1").gpus(8).tainted("nvidia.com/gpu")},
          event::PodUpserted{tests::pod("a").gpus(2).cpu("1500m").selects("zone", "a")},
          event::NamespaceUpserted{tests::name_space("ml", {{"team", "vision"}})},
          event::VolumeClaimUpserted{tests::claim("data", "v1")},
          event::VolumeUpserted{tests::volume("v1")},
          named(k8s::StorageClass()),
          named(k8s::CsiNode()),
          named(k8s::CsiDriver()),
          named(k8s::CsiStorageCapacity()),
          named(k8s::VolumeAttachment()),
          event::Upserted<k8s::DeviceClass>{device_class},
          named(k8s::Service{.metadata = {}, .selector = {{"app", "web"}}}),
          named(k8s::ReplicationController{.metadata = {}, .selector = {{"app", "web"}}}),
          named(k8s::ReplicaSet{.metadata = {}, .selector = k8s::LabelSelector()}),
          named(k8s::StatefulSet()),
          named(k8s::PodDisruptionBudget{.metadata = {},
                                         .selector = k8s::LabelSelector(),
                                         .disruptions_allowed = 2,
                                         .disrupted_pods = {"web-0", "web-1"}}),
          event::QuotaUpserted{tests::gpu_quota("team-vision").of("vision").line("H100", 8)},
          event::QuotaDeleted{"team-vision"},
          event::NodeDeleted{"n1"},
          event::PodDeleted{ref},
          event::NamespaceDeleted{"ml"},
          event::VolumeClaimDeleted{"data", "ml"},
          event::VolumeDeleted{"v1"},
          event::Deleted<k8s::StorageClass>{"x"},
          event::Deleted<k8s::CsiNode>{"x"},
          event::Deleted<k8s::CsiDriver>{"x"},
          event::Deleted<k8s::CsiStorageCapacity>{"x", "ns"},
          event::Deleted<k8s::VolumeAttachment>{"x"},
          event::Deleted<k8s::DeviceClass>{"gpu.nvidia.com"},
          event::Deleted<k8s::Service>{"x", "ns"},
          event::Deleted<k8s::ReplicationController>{"x", "ns"},
          event::Deleted<k8s::ReplicaSet>{"x", "ns"},
          event::Deleted<k8s::StatefulSet>{"x", "ns"},
          event::DisruptionBudgetDeleted{"x", "ns"},
          event::PodRejected{ref,
                             "n1",
                             "UnexpectedAdmissionError",
                             kAt,
                             {{"nvidia.com/gpu", 2}},
                             {{"cpu", 500}, {"nvidia.com/gpu", 3}}},
          event::QuotaRemembered{tests::gpu_quota("gone").of("vision").opens_when_deleted()},
          event::Synced{},
          event::DisruptionBudgetsReadable{false},
          event::Prepared{.plan = 7, .failure = "409 Conflict"},
          event::BindSucceeded{ref, "n1"},
          event::BindFailed{ref, "n1", "409 Conflict: \n\"é\""},
          event::BindFailed{ref, "n1", "gone", event::BindFailed::Because::kOvertaken},
          event::BindFailed{ref, "n1", "", event::BindFailed::Because::kNotSent},
          event::BindFailed{ref, "n1", "busy", event::BindFailed::Because::kUnanswered},
          event::BindFailed{ref, "n1", "others", event::BindFailed::Because::kStuck}};
}

std::vector<std::optional<sched::Decision>> some_of_each() {
  const PodRef ref{"ml", "a", "uid-1"};
  return {
      std::nullopt,
      sched::decision::Bind{.pod = ref,
                            .scheduler_name = "s",
                            .generation = 4,
                            .node = "n1",
                            .devices = {},
                            .charged_as = "NVIDIA-L4",
                            .charged_at = kAt,
                            .total_score = 870,
                            .scores = {{"GpuPacking", 87, 10}},
                            .feasible_nodes = 3,
                            .all_nodes = 8,
                            .attempts = 2,
                            .queued_since = kAt},
      sched::decision::Prepare{
          .plan = 7,
          .pod = ref,
          .scheduler_name = "s",
          .generation = 4,
          .node = "n1",
          .writes = {sched::SelectNode{.claim = {"ml", "c", "uid-2", "3"}, .node = "n1"},
                     sched::ReserveVolume{.volume = {"", "v", "uid-3", "4"},
                                          .claim = {"ml", "d", "uid-4", "5"},
                                          .named_claim = true}}},
      sched::decision::Evict{
          .plan = 8,
          .pod = ref,
          .scheduler_name = "s",
          .generation = 4,
          .node = "n1",
          .victims = {{{"ml", "victim", "uid-5"}}, {{"ml", "other", "uid-6"}, true}},
          .message = "0/1 nodes are available",
          .details = "Waits.",
          .attempts = 2},
      sched::decision::NotPrepared{.pod = ref,
                                   .scheduler_name = "s",
                                   .generation = 4,
                                   .node = "n1",
                                   .message = "waited too long"},
      sched::decision::Unschedulable{.pod = ref,
                                     .scheduler_name = "s",
                                     .generation = 4,
                                     .message = "0/1 nodes are available: 1 Insufficient cpu.",
                                     .details = "asked 4",
                                     .plugins = {"NodeResourcesFit"},
                                     .attempts = 1,
                                     .reason = {}},
      sched::decision::Unschedulable{
          .pod = ref,
          .scheduler_name = "s",
          .generation = 4,
          .message = "quota q: H100 needs 2, 8 of 8 in use, first in line; 2 more must be freed",
          .details = "asked 4",
          .plugins = {"GpuQuota"},
          .attempts = 1,
          .reason = sched::decision::Unschedulable::Reason::kGpuQuotaExceeded},
      sched::decision::Unschedulable{
          .pod = ref,
          .scheduler_name = "s",
          .generation = 4,
          .message = "1 of the 2 pods that start together as group g are there",
          .details = "",
          .plugins = {"PodGroup"},
          .attempts = 1,
          .reason = sched::decision::Unschedulable::Reason::kWaitingForPods},
      sched::decision::ForeignGpuPod{.pod = ref, .scheduler_name = "s", .node = "n1", .gpus = 2},
      sched::decision::MisnamedScheduler{.pod = ref, .scheduler_name = "t", .meant = "s"},
      sched::decision::NodeBackedOff{.node = "n1",
                                     .until = kAt,
                                     .in_a_row = 2,
                                     .rejected = 3,
                                     .reason = "UnexpectedAdmissionError",
                                     .pod = ref,
                                     .platform = "NVIDIA-L4, driver 550.54.15"},
      sched::decision::NodeReleased{.node = "n1", .proven = true},
      sched::decision::MigRepartition{.scheduler_name = "s",
                                      .node = "n1",
                                      .from = "all-disabled",
                                      .to = "all-1g.10gb",
                                      .pods = {ref, ref},
                                      .cost = "8 free nvidia.com/gpu",
                                      .to_go = 3},
      sched::decision::NodeComplaint{.node = "n1", .complaints = {"a", "b"}, .lasts = false}};
}

// What each kind is made of, but for what no live cluster knows (a bind's devices), and what no
// recording has (its runner-up). A field that is
// added does not compile before it is named here, and then it has to come back.
auto fields(const sched::decision::Bind& bind) {
  const auto& [pod, scheduler, generation, node, devices, charged_as, charged_at, total, scores,
               feasible, all, attempts, since, runner_up] = bind;
  static_cast<void>(devices);
  static_cast<void>(runner_up);
  return std::tie(pod, scheduler, generation, node, charged_as, charged_at, total, scores, feasible,
                  all, attempts, since);
}
auto fields(const sched::decision::Prepare& prepare) {
  const auto& [plan, pod, scheduler, generation, node, writes] = prepare;
  return std::tie(plan, pod, scheduler, generation, node, writes);
}
auto fields(const sched::decision::Evict& evict) {
  const auto& [plan, pod, scheduler, generation, node, victims, message, details, attempts] = evict;
  return std::tie(plan, pod, scheduler, generation, node, victims, message, details, attempts);
}
auto fields(const sched::decision::NotPrepared& undone) {
  const auto& [pod, scheduler, generation, node, message] = undone;
  return std::tie(pod, scheduler, generation, node, message);
}
auto fields(const sched::decision::Unschedulable& no) {
  const auto& [pod, scheduler, generation, message, details, plugins, attempts, reason] = no;
  return std::tie(pod, scheduler, generation, message, details, plugins, attempts, reason);
}
auto fields(const sched::decision::ForeignGpuPod& foreign) {
  const auto& [pod, scheduler, node, gpus] = foreign;
  return std::tie(pod, scheduler, node, gpus);
}
auto fields(const sched::decision::MisnamedScheduler& misnamed) {
  const auto& [pod, scheduler, meant] = misnamed;
  return std::tie(pod, scheduler, meant);
}
auto fields(const sched::decision::NodeBackedOff& backed_off) {
  const auto& [node, until, in_a_row, rejected, reason, pod, platform] = backed_off;
  return std::tie(node, until, in_a_row, rejected, reason, pod, platform);
}
auto fields(const sched::decision::MigRepartition& advice) {
  const auto& [scheduler, node, from, to, pods, cost, to_go] = advice;
  return std::tie(scheduler, node, from, to, pods, cost, to_go);
}
auto fields(const sched::decision::NodeReleased& released) {
  const auto& [node, proven] = released;
  return std::tie(node, proven);
}
auto fields(const sched::decision::NodeComplaint& complaint) {
  const auto& [node, complaints, lasts] = complaint;
  return std::tie(node, complaints, lasts);
}

auto fields(const event::PodRejected& rejected) {
  const auto& [pod, node, reason, at, devices, requests] = rejected;
  return std::tie(pod, node, reason, at, devices, requests);
}
auto fields(const event::QuotaRemembered& remembered) {
  const auto& [quota] = remembered;
  return std::tie(quota);
}
auto fields(const event::Prepared& prepared) {
  const auto& [plan, failure] = prepared;
  return std::tie(plan, failure);
}
auto fields(const event::BindSucceeded& succeeded) {
  const auto& [pod, node] = succeeded;
  return std::tie(pod, node);
}
auto fields(const event::BindFailed& failed) {
  const auto& [pod, node, message, because] = failed;
  return std::tie(pod, node, message, because);
}
auto fields(const event::PodDeleted& deleted) { return std::tie(deleted.pod); }
template <typename Object>
auto fields(const event::Deleted<Object>& deleted) {
  const auto& [name, space] = deleted;
  return std::tie(name, space);
}
std::tuple<> fields(const event::Synced&) { return {}; }
// The others: an object.
template <typename EventType>
auto fields(const EventType& event) {
  const auto& [what] = event;
  return std::tie(what);
}

// Whether each of two tuples' fields differs.
template <typename Tuple>
bool all_differ(const Tuple& a, const Tuple& b) {
  return std::apply(
      [&b](const auto&... of_a) {
        return std::apply([&](const auto&... of_b) { return ((of_a != of_b) && ...); }, b);
      },
      a);
}

}  // namespace

TEST_CASE("every kind of event comes back") {
  const std::vector<Event> events = one_of_each();
  std::set<std::size_t> kinds;
  for (const Event& event : events) {
    kinds.insert(event.index());
    const std::string line = sched::live::encode(EngineCall{AppliedCall{event, kAt}});
    INFO(line);
    CHECK(line.find('\n') == std::string::npos);
    const auto read = sched::live::decode_call(line);
    REQUIRE(read);
    const auto& applied = std::get<AppliedCall>(*read);
    CHECK(applied.at == kAt);
    REQUIRE(applied.event.index() == event.index());
    CHECK(sched::live::encode(*read) == line);
    std::visit(
        [&applied](const auto& told) {
          const auto& back = std::get<std::decay_t<decltype(told)>>(applied.event);
          CHECK((fields(back) == fields(told)));
        },
        event);
  }
  CHECK(kinds.size() == std::variant_size_v<Event>);
}

TEST_CASE("events keep the names by which recordings have them") {
  std::set<std::string> names;
  for (const Event& event : one_of_each()) {
    const std::string line = sched::live::encode(EngineCall{AppliedCall{event, kAt}});
    const std::string before = "\"event\":\"";
    const std::size_t from = line.find(before) + before.size();
    names.insert(line.substr(from, line.find('"', from) - from));
  }
  CHECK(names == std::set<std::string>{"NodeUpserted",
                                       "NodeDeleted",
                                       "PodUpserted",
                                       "PodDeleted",
                                       "NamespaceUpserted",
                                       "NamespaceDeleted",
                                       "ClaimUpserted",
                                       "ClaimDeleted",
                                       "VolumeUpserted",
                                       "VolumeDeleted",
                                       "StorageClassUpserted",
                                       "StorageClassDeleted",
                                       "CSINodeUpserted",
                                       "CSINodeDeleted",
                                       "CSIDriverUpserted",
                                       "CSIDriverDeleted",
                                       "CSIStorageCapacityUpserted",
                                       "CSIStorageCapacityDeleted",
                                       "VolumeAttachmentUpserted",
                                       "VolumeAttachmentDeleted",
                                       "DeviceClassUpserted",
                                       "DeviceClassDeleted",
                                       "ServiceUpserted",
                                       "ServiceDeleted",
                                       "ReplicationControllerUpserted",
                                       "ReplicationControllerDeleted",
                                       "ReplicaSetUpserted",
                                       "ReplicaSetDeleted",
                                       "StatefulSetUpserted",
                                       "StatefulSetDeleted",
                                       "DisruptionBudgetUpserted",
                                       "DisruptionBudgetDeleted",
                                       "QuotaUpserted",
                                       "QuotaDeleted",
                                       "PodRejected",
                                       "QuotaRemembered",
                                       "Synced",
                                       "DisruptionBudgetsReadable",
                                       "Prepared",
                                       "BindSucceeded",
                                       "BindFailed"});
}

TEST_CASE("text that is no UTF-8 does not end a recording") {
  const std::string line = sched::live::encode(
      EngineCall{AppliedCall{event::BindFailed{{}, "n1", "409 Conflict: \xff"}, kAt}});
  const auto read = sched::live::decode_call(line);
  REQUIRE(read);
  const auto& failed = std::get<event::BindFailed>(std::get<AppliedCall>(*read).event);
  CHECK(failed.message == "409 Conflict: \uFFFD");
}

TEST_CASE("objects come back whole") {
  const k8s::Pod pod =
      tests::pod("a").gpus(2).prefers_nodes(3, tests::term({tests::label("zone").exists()}));
  const auto read = sched::live::decode_call(
      sched::live::encode(EngineCall{AppliedCall{event::PodUpserted{pod}, kAt}}));
  REQUIRE(read);
  CHECK(std::get<event::PodUpserted>(std::get<AppliedCall>(*read).event).object == pod);
}

TEST_CASE("every kind of decision comes back") {
  std::set<std::size_t> kinds;  // of which one has no field left at its default
  for (const auto& decision : some_of_each()) {
    if (decision) {
      std::visit(
          [&](const auto& what) {
            const std::decay_t<decltype(what)> untouched{};
            if (all_differ(fields(what), fields(untouched))) kinds.insert(decision->index());
          },
          *decision);
    }
    const auto read =
        sched::live::decode_call(sched::live::encode(EngineCall{StepCall{decision, kAt}}));
    REQUIRE(read);
    CHECK(std::get<StepCall>(*read).decision == decision);
    CHECK(std::get<StepCall>(*read).at == kAt);
  }
  CHECK(kinds.size() == std::variant_size_v<sched::Decision>);
}

TEST_CASE("a recording from before a node's platform was told still reads") {
  const auto read = sched::live::decode_call(
      R"({"at":1,"step":{"nodeBackedOff":{"node":"n1","until":2,"inARow":1,"rejected":3,)"
      R"("reason":"r","pod":{"namespace":"ml","name":"a","uid":"u"}}}})");
  REQUIRE(read);
  const auto& decision = std::get<StepCall>(*read).decision;
  CHECK(std::get<sched::decision::NodeBackedOff>(*decision).platform.empty());
}

TEST_CASE("a recording from before the generation of a pod that prepares was told still reads") {
  const auto read = sched::live::decode_call(
      R"({"at":1,"step":{"prepare":{"plan":7,"pod":{"namespace":"ml","name":"a","uid":"u"},)"
      R"("schedulerName":"s","node":"n1","writes":[]}}})");
  REQUIRE(read);
  const auto& decision = std::get<StepCall>(*read).decision;
  CHECK(std::get<sched::decision::Prepare>(*decision).generation == 0);
}

TEST_CASE("lines that are no part of a recording") {
  for (const char* line :
       {"", "{", "[]", "{}", R"({"at":1})", R"({"at":"x","step":null})", R"({"at":1,"step":{}})",
        R"({"at":1,"event":"Nothing"})", R"({"at":1,"event":"PodUpserted"})",
        R"({"at":1,"event":"PodUpserted","object":{"metadata":7}})",
        R"({"at":1,"event":"NodeDeleted","name":5})", R"({"at":1,"step":{"bind":{}}})",
        R"({"at":1e300,"step":null})", R"({"at":1.5,"step":null})",
        R"({"at":18446744073709551615,"step":null})",
        R"({"at":1,"event":"PodRejected","pod":{"namespace":"","name":"","uid":""},"node":"",)"
        R"("reason":"","rejectedAt":1,"devices":{"nvidia.com/gpu":1e300}})",
        R"({"at":1,"event":"PodRejected","pod":{"namespace":"","name":"","uid":""},"node":"",)"
        R"("reason":"","rejectedAt":1,"devices":[1]})"}) {
    INFO(line);
    CHECK_FALSE(sched::live::decode_call(line));
  }
  CHECK_FALSE(
      sched::live::decode_header(R"({"gpu-scheduler-record":3,"config_file":"","config":""})"));
  CHECK_FALSE(sched::live::decode_header("{}"));
}

TEST_CASE("a line that nests without end is refused") {
  const std::string open(1'000'000, '[');
  const std::string close(1'000'000, ']');
  const std::string line = R"({"at":1,"event":"PodUpserted","object":)" + open + close + "}";
  const auto read = sched::live::decode_call(line);
  REQUIRE_FALSE(read);
  CHECK(read.error().message == "nests too deeply");
  // Brackets in texts are no nesting.
  const std::string text = R"({"at":1,"event":"NodeDeleted","name":"\")" + open + R"("})";
  CHECK(sched::live::decode_call(text));
}

TEST_CASE("the recorder writes what it was given, in order, when it ends") {
  const std::string file = tests::scratch_dir() + "/recorder_test.jsonl";
  const sched::live::RecordHeader header{"c.yaml", "a: 1\n"};
  {
    auto recorder = sched::live::Recorder::create(file, header, [](const std::string&) {});
    REQUIRE(recorder);
    for (int i = 0; i < 10'000; ++i) {
      (*recorder)->applied(event::NodeDeleted{std::to_string(i)}, kAt);
      (*recorder)->stepped(std::nullopt, kAt);
    }
  }
  std::ifstream stream(file);
  std::string line;
  REQUIRE(std::getline(stream, line));
  CHECK(sched::live::decode_header(line) == header);
  int lines = 0;
  for (; std::getline(stream, line); ++lines) {
    if (lines % 2 == 1) continue;
    const auto call = sched::live::decode_call(line);
    REQUIRE(call);
    const auto& applied = std::get<AppliedCall>(*call);
    REQUIRE(std::get<event::NodeDeleted>(applied.event).name == std::to_string(lines / 2));
  }
  CHECK(lines == 20'000);
  std::remove(file.c_str());
}

TEST_CASE("a disk that falls far behind ends the recording, not more") {
  const std::string file = tests::scratch_dir() + "/recorder_test.fifo";
  std::remove(file.c_str());
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  const int reader = open(file.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  std::vector<std::string> errors;
  std::string read;
  {
    auto recorder = sched::live::Recorder::create(
        file, {}, [&](const std::string& error) { errors.push_back(error); },
        {.most_waiting = 10'000});
    REQUIRE(recorder);
    // More than the pipe holds: the writer stands still until somebody reads.
    const std::string name(1'000, 'x');
    for (int i = 0; i < 30'000; ++i) (*recorder)->applied(event::NodeDeleted{name}, kAt);
    REQUIRE(errors.size() == 1);
    CHECK_THAT(errors[0], Catch::Contains("recorder_test.fifo: the disk is too slow"));
    (*recorder)->applied(event::NodeDeleted{"later"}, kAt);
    std::thread ending([&] { recorder->reset(); });
    std::array<char, 65'536> chunk{};
    for (ssize_t n = 1; n != 0;) {
      n = ::read(reader, chunk.data(), chunk.size());
      if (n > 0) read.append(chunk.data(), static_cast<std::size_t>(n));
      if (n < 0) std::this_thread::yield();
    }
    ending.join();
  }
  CHECK(errors.size() == 1);
  CHECK(read.ends_with("\n"));
  CHECK(read.find("later") == std::string::npos);
  close(reader);
  std::remove(file.c_str());
}

TEST_CASE("a recording that has reached its limit ends with a whole line, and says so once") {
  const std::string file = tests::scratch_dir() + "/recorder_test.jsonl";
  constexpr std::size_t kLimit = 5'000;
  int told = 0;
  {
    auto recorder =
        sched::live::Recorder::create(file, {}, [](const std::string& error) { FAIL(error); },
                                      {.bytes = kLimit, .on_full = [&] { ++told; }});
    REQUIRE(recorder);
    for (int i = 0; i < 1'000; ++i) {
      (*recorder)->applied(event::NodeDeleted{std::to_string(i)}, kAt);
    }
  }
  CHECK(told == 1);
  std::ifstream stream(file);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  CHECK(text.size() <= kLimit);
  CHECK(text.size() > kLimit - 100);
  CHECK(text.ends_with("}\n"));
  std::remove(file.c_str());
}

TEST_CASE("a snapshot and gaps come back") {
  const sched::live::RecordHeader header{
      "c.yaml", "a: 1\n",
      sched::live::RecordHeader::Snapshot{.objects = 12, .decisions = 7, .at = kAt}};
  const auto read = sched::live::decode_header(sched::live::encode(header));
  REQUIRE(read);
  CHECK(*read == header);
  const auto gap = sched::live::decode_call(sched::live::encode(
      EngineCall{sched::live::LostCalls{.events = 3, .decisions = 4, .at = kAt}}));
  REQUIRE(gap);
  const auto& lost = std::get<sched::live::LostCalls>(*gap);
  CHECK(lost.events == 3);
  CHECK(lost.decisions == 4);
  CHECK(lost.at == kAt);
}

namespace {

// Files may not grow beyond `bytes` as long as it lives: a disk that fills up.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{bytes, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("a disk that fills up ends the recording, not more, and is told of once") {
  const std::string file = tests::scratch_dir() + "/recorder_test.full";
  std::vector<std::string> errors;
  {
    const FileSizeLimit limit(100'000);
    auto recorder = sched::live::Recorder::create(
        file, {}, [&](const std::string& error) { errors.push_back(error); });
    REQUIRE(recorder);
    CHECK((*recorder)->is_writing());
    for (int i = 0; i < 5'000; ++i) (*recorder)->applied(event::NodeDeleted{"n"}, kAt);
    while ((*recorder)->is_writing()) std::this_thread::yield();
    (*recorder)->applied(event::NodeDeleted{"later"}, kAt);
  }
  REQUIRE(errors.size() == 1);
  CHECK_THAT(errors[0], Catch::EndsWith("recorder_test.full: File too large"));
  std::ifstream stream(file);
  std::string line;
  REQUIRE(std::getline(stream, line));
  CHECK(sched::live::decode_header(line));
  int whole = 0;
  while (std::getline(stream, line) && !stream.eof()) {
    REQUIRE(sched::live::decode_call(line));
    ++whole;
  }
  CHECK(whole > 1'000);
  std::remove(file.c_str());
}

TEST_CASE("a reader that goes away ends the recording, not the process") {
  const std::string file = tests::scratch_dir() + "/recorder_test.gone";
  std::remove(file.c_str());
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  const int reader = open(file.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  std::vector<std::string> errors;
  {
    auto recorder = sched::live::Recorder::create(
        file, {}, [&](const std::string& error) { errors.push_back(error); });
    REQUIRE(recorder);
    close(reader);
    (*recorder)->applied(event::NodeDeleted{"n"}, kAt);
  }
  REQUIRE(errors.size() == 1);
  CHECK_THAT(errors[0], Catch::EndsWith("recorder_test.gone: Broken pipe"));
  std::remove(file.c_str());
}

TEST_CASE("a recording that cannot be created says why") {
  const auto full = sched::live::Recorder::create("/dev/full", {}, [](const std::string&) {});
  REQUIRE_FALSE(full);
  CHECK(full.error().message == "--record /dev/full: cannot be written: No space left on device");
  const auto recorder =
      sched::live::Recorder::create("/nowhere/r.jsonl", {}, [](const std::string&) {});
  REQUIRE_FALSE(recorder);
  CHECK_THAT(recorder.error().message,
             Catch::Contains("/nowhere/r.jsonl") && Catch::Contains("No such file or directory"));
}

TEST_CASE("a recording is for its owner alone, also where the file was there before") {
  const std::string file = tests::scratch_dir() + "/recorder_test.private";
  for (const mode_t before : {mode_t{0}, mode_t{0644}}) {
    std::remove(file.c_str());
    if (before != 0) {
      std::ofstream(file) << "old";
      REQUIRE(::chmod(file.c_str(), before) == 0);
    }
    REQUIRE(sched::live::Recorder::create(file, {}, [](const std::string&) {}));
    struct stat found {};
    REQUIRE(::stat(file.c_str(), &found) == 0);
    CHECK((found.st_mode & 07777U) == 0600U);
  }
  std::remove(file.c_str());
}
