#include "scheduler/answers/json.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/json_text.h"
#include "scheduler/answers/fields.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace sched::answers {
namespace {

using Json = nlohmann::ordered_json;

// The archive of fields.h that writes.
class JsonWriter {
 public:
  void kind(const char* name) { json_["kind"] = name; }
  void field(const char* key, const auto& value) { json_[key] = of(value); }
  void required(const char* key, const auto& value) { field(key, value); }
  void computed(const char* key, const auto& value) { field(key, value); }
  void field_if(bool is_set, const char* key, const auto& value) {
    json_[key] = is_set ? of(value) : Json();
  }
  template <typename T>
  void optional(const char* key, const T& value) {
    if (value != T{}) field(key, value);
  }
  void object(const char* key, const auto& describe) {
    JsonWriter inside;
    describe(inside);
    if (!inside.json_.is_null()) json_[key] = std::move(inside.json_);
  }

  static Json of(Why::Verdict verdict) { return to_string(verdict); }
  static Json of(Time at) { return k8s::json::format_seconds(at); }
  static Json of(std::chrono::seconds seconds) { return seconds.count(); }
  static Json of(const k8s::Quantity& quantity) { return quantity.to_string(); }
  template <typename T>
  static Json of(const std::optional<T>& value) {
    return value ? of(*value) : Json();
  }
  template <typename T>
  static Json of(const std::vector<T>& list) {
    return array_of(list, [](const T& one) { return of(one); });
  }
  template <typename T>
  static Json of(const T& value) {
    if constexpr (requires(JsonWriter & writer) { fields(writer, value); }) {
      JsonWriter writer;
      fields(writer, value);
      return std::move(writer.json_);
    } else {
      return value;
    }
  }

  static Json array_of(const auto& list, const auto& each) {
    Json array = Json::array();
    for (const auto& one : list) array.push_back(each(one));
    return array;
  }

 private:
  Json json_;
};

std::string text_of(const Json& json) { return k8s::json_text(json, 2) + '\n'; }

}  // namespace

std::string to_json(const Overview& overview) { return text_of(JsonWriter::of(overview)); }
std::string to_json(const Queue& queue) { return text_of(JsonWriter::of(queue)); }
std::string to_json(const AllQuotas& quotas) { return text_of(JsonWriter::of(quotas)); }
std::string to_json(const QuotasSeen& quotas) { return text_of(JsonWriter::of(quotas)); }
std::string to_json(const Why& why) { return text_of(JsonWriter::of(why)); }

std::string to_json(const std::vector<QuotaStatus>& quotas) {
  return text_of({{"kind", "Quotas"}, {"quotas", JsonWriter::of(quotas)}});
}

std::string to_json(const std::vector<GpuNode>& nodes, const PodNames& names) {
  const auto tenant = [&](const GpuTenant& one) -> Json {
    return {{"pod", names.of(one.uid)}, {"gpus", one.pieces}};
  };
  const auto node = [&](const GpuNode& one) -> Json {
    return {{"node", one.node},
            {"type", one.type},
            {"closed", one.closed},
            {"pieces", JsonWriter::of(one.pieces)},
            {"pods", JsonWriter::array_of(one.tenants, tenant)}};
  };
  return text_of({{"kind", "Nodes"}, {"nodes", JsonWriter::array_of(nodes, node)}});
}

std::string to_json(const Plan& plan) {
  constexpr std::size_t kMostStillWaiting = 100;
  const auto start = [](const PlanRow& row) -> Json {
    return {
        {"pod", JsonWriter::of(row.pod)}, {"origin", to_string(row.origin)}, {"node", row.node}};
  };
  const auto wait = [](const PlanRow& row) -> Json {
    return {{"pod", JsonWriter::of(row.pod)},
            {"origin", to_string(row.origin)},
            {"headline", row.headline},
            {"why", row.why}};
  };
  const auto still = [](const QueueRow& row) -> Json {
    return {{"pod", JsonWriter::of(row.pod)}, {"blockedBy", row.blocked_by}, {"next", row.next}};
  };
  const std::vector<QueueRow> first_rows = plan.first_still_waiting(kMostStillWaiting);
  return text_of({{"kind", "Plan"},
                  {"wouldStart", JsonWriter::array_of(plan.starts, start)},
                  {"wouldWait", JsonWriter::array_of(plan.waits, wait)},
                  {"wouldStartButForDrain", JsonWriter::of(plan.held_up)},
                  {"wouldEnd", JsonWriter::of(plan.ended)},
                  {"wouldGoToOthers", JsonWriter::of(plan.elsewhere)},
                  {"replaced", JsonWriter::of(plan.replaced)},
                  {"startAnyway", plan.start_anyway},
                  {"stillWaiting", plan.still_waiting()},
                  {"stillWaitingFor", plan.causes()},
                  {"stillWaitingPods", JsonWriter::array_of(first_rows, still)}});
}

}  // namespace sched::answers
