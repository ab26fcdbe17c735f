// What people put into objects that is no business of a scheduler is in no recording.
#include "scheduler/live/event_queue.h"
#include "scheduler/live/intake.h"
#include "scheduler/live/record/flight_recorder.h"
#include "scheduler/live/record/gzip_member.h"
#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_loop.h"

#include <future>
#include <map>
#include <memory>
#include <string>

namespace {

using namespace std::chrono_literals;

// Each text that must not be found holds this word.
constexpr const char* kSecret = "s3cr3t";

// As API servers send them, by path.
const std::map<std::string, std::string>& objects() {
  static const std::map<std::string, std::string> all = {
      {"/api/v1/pods",
       R"({"metadata":{"name":"train","namespace":"ml","uid":"u1","resourceVersion":"7",
           "labels":{"app":"train"},
           "annotations":{"gpu-scheduler.io/gpu-type":"H100","team.example/token":"s3cr3t-a",
             "kubectl.kubernetes.io/last-applied-configuration":"{\"env\":\"s3cr3t-b\"}"},
           "managedFields":[{"manager":"s3cr3t-c"}]},
         "spec":{"schedulerName":"gpu-scheduler","serviceAccountName":"s3cr3t-d",
           "imagePullSecrets":[{"name":"s3cr3t-e"}],
           "initContainers":[{"name":"i","image":"init:1","command":["sh","-c","s3cr3t-f"],
             "env":[{"name":"KEY","value":"s3cr3t-g"}]}],
           "containers":[{"name":"main","image":"train:1","command":["s3cr3t-h"],
             "args":["--token=s3cr3t-i"],
             "env":[{"name":"PASSWORD","value":"s3cr3t-j"},
               {"name":"K","valueFrom":{"secretKeyRef":{"name":"s3cr3t-k","key":"k"}}}],
             "envFrom":[{"secretRef":{"name":"s3cr3t-l"}}],
             "livenessProbe":{"httpGet":{"path":"/","port":80,
               "httpHeaders":[{"name":"Authorization","value":"s3cr3t-m"}]}},
             "lifecycle":{"preStop":{"exec":{"command":["s3cr3t-n"]}}},
             "resources":{"requests":{"nvidia.com/gpu":"1"}}}],
           "volumes":[{"name":"v","secret":{"secretName":"s3cr3t-o"}},
             {"name":"w","csi":{"driver":"d","volumeAttributes":{"k":"s3cr3t-p"}}},
             {"name":"x","projected":{"sources":[{"secret":{"name":"s3cr3t-q"}}]}},
             {"name":"y","rbd":{"monitors":["m"],"image":"i","keyring":"s3cr3t-r",
               "secretRef":{"name":"s3cr3t-s"}}}]},
         "status":{"phase":"Pending"}})"},
      {"/api/v1/nodes",
       R"({"metadata":{"name":"n1","resourceVersion":"7","annotations":{"x":"s3cr3t-n1"}},
         "status":{"allocatable":{"nvidia.com/gpu":"8"},
           "nodeInfo":{"systemUUID":"s3cr3t-n2"}}})"},
      {"/api/v1/namespaces",
       R"({"metadata":{"name":"ml","resourceVersion":"7","annotations":{"x":"s3cr3t-ns"}}})"},
      {"/api/v1/persistentvolumes",
       R"({"metadata":{"name":"pv","resourceVersion":"7","annotations":{"x":"s3cr3t-v1"}},
         "spec":{"csi":{"driver":"d","volumeHandle":"h","volumeAttributes":{"k":"s3cr3t-v2"},
           "nodeStageSecretRef":{"name":"s3cr3t-v3"}}}})"},
      {"/api/v1/persistentvolumeclaims",
       R"({"metadata":{"name":"data","namespace":"ml","uid":"u2","resourceVersion":"7",
           "annotations":{"x":"s3cr3t-c1"}},"spec":{"volumeName":"pv"}})"},
      {"/apis/storage.k8s.io/v1/storageclasses",
       R"({"metadata":{"name":"fast","resourceVersion":"7","annotations":{"x":"s3cr3t-s1"}},
         "provisioner":"p","parameters":{"key":"s3cr3t-s2"}})"},
      {"/apis/gpu-scheduler.io/v1alpha1/gpuquotas",
       R"({"metadata":{"name":"team","uid":"u3","resourceVersion":"7",
           "annotations":{"x":"s3cr3t-q1"}},
         "spec":{"namespaces":["ml"],
           "quotas":[{"gpuType":"H100","guaranteed":"8"}]}})"},
  };
  return all;
}

std::string in_one_line(std::string text) {
  std::erase(text, '\n');
  return text;
}

}  // namespace

TEST_CASE("no environment, command, secret or annotation of others' gets into a recording") {
  tests::ManualLoop loop;
  tests::FakeTransport transport{loop};
  transport.serve([](const std::shared_ptr<tests::FakeCall>& call) {
    const std::string& target = call->request().target;
    const auto object = objects().find(target.substr(0, target.find('?')));
    call->open();
    if (object != objects().end() && target.find("Dphase%3DFailed") == std::string::npos) {
      REQUIRE(object->second.find(kSecret) != std::string::npos);
      call->send(in_one_line(R"({"type":"ADDED","object":)" + object->second + "}") + "\n");
    }
    call->send(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":)"
               R"({"k8s.io/initial-events-end":"true"}}}})"
               "\n");
  });
  sched::live::FlightRecorder recorder({}, {}, [] {});
  sched::live::EventQueue queue;
  const sched::Time at{std::chrono::seconds(1'767'225'600)};
  sched::live::Intake::Hooks hooks;
  hooks.on_event = [&](sched::Event event) {
    recorder.push(std::move(event), sched::live::Haste::kNow, queue);
    recorder.applied(at);
  };
  hooks.on_pod = [](const k8s::Pod&) {};
  hooks.on_pod_gone = [](const std::string&) {};
  hooks.on_quota = [](const k8s::GpuQuota&) {};
  hooks.on_quota_gone = [](const std::string&) {};
  hooks.on_quotas_presence = [](bool) {};
  hooks.on_problem = [](const std::string& kind, const k8s::Error& error, auto) {
    FAIL(kind + ": " + error.message);
  };
  hooks.on_recovered = [](const std::string&) {};
  hooks.on_unreadable = [](const std::string&, const k8s::Error& error) { FAIL(error.message); };
  hooks.on_synced = [] {};
  sched::live::Intake intake(transport, loop, std::move(hooks), {}, {});
  intake.start(0s);
  loop.advance(1s);
  recorder.end_round();
  std::promise<sched::live::RecordingParts> taken;
  recorder.take([&](sched::live::RecordingParts parts) { taken.set_value(std::move(parts)); });
  std::string text;
  for (const auto& part : taken.get_future().get()) {
    text += sched::live::unpack_member(*part).value().text;
  }
  // All of them are in it, with what is read.
  for (const char* wanted : {R"("name":"train")", R"("gpu-scheduler.io/gpu-type":"H100")",
                             "train:1", "NodeUpserted", "NamespaceUpserted", "VolumeUpserted",
                             "ClaimUpserted", "StorageClassUpserted", "QuotaUpserted"}) {
    CHECK_THAT(text, Catch::Contains(wanted));
  }
  const auto found = text.find(kSecret);
  CHECK((found == std::string::npos ? "" : text.substr(found, 12)) == "");
}
