#include "scheduler/answers/read_json.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "scheduler/answers/fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace sched::answers {
namespace {

// Thrown if the text is JSON, but not an answer that this version knows.
struct NotKnown {};
using Verdict = Why::Verdict;

class JsonReader;
template <typename T>
concept Described = requires(JsonReader& reader, T& value) {
  fields(reader, value);
};

// The archive of fields.h that reads. A field that is missing keeps its value.
class JsonReader {
 public:
  explicit JsonReader(const nlohmann::json& json) : json_(json) {}

  void kind(const char* name) const {
    if (json_.at("kind") != name) throw NotKnown();
  }
  void required(const char* key, auto& value) const { read(json_.at(key), value); }
  void field(const char* key, auto& value) const {
    if (const auto found = json_.find(key); found != json_.end()) read(*found, value);
  }
  void field_if(bool /*is_set*/, const char* key, auto& value) const { field(key, value); }
  void optional(const char* key, auto& value) const { field(key, value); }
  template <typename T>
  void optional(const char* key, std::optional<T>& value) const {
    if (json_.contains(key)) required(key, value.emplace());
  }
  void computed(const char* /*key*/, const auto& /*value*/) const {}
  void object(const char* key, const auto& describe) const {
    const auto found = json_.find(key);
    if (found == json_.end()) return;
    const JsonReader inside(*found);
    describe(inside);
  }

 private:
  static void read(const nlohmann::json& json, Verdict& verdict) {
    static constexpr std::array kVerdicts = {Verdict::kPlaced,  Verdict::kStarts, Verdict::kWaits,
                                             Verdict::kGated,   Verdict::kNever,  Verdict::kNotOurs,
                                             Verdict::kFinished};
    const auto text = json.get<std::string>();
    const auto* found = std::find_if(kVerdicts.begin(), kVerdicts.end(),
                                     [&](Verdict one) { return to_string(one) == text; });
    if (found == kVerdicts.end()) throw NotKnown();
    verdict = *found;
  }
  // Another process wrote the text, so it may have no valid time there.
  static void read(const nlohmann::json& json, Time& time) {
    if (json.is_null()) return;
    const auto parsed = k8s::json::parse_rfc3339(json.get<std::string>());
    if (!parsed) throw NotKnown();
    time = *parsed;
  }
  static void read(const nlohmann::json& json, k8s::Quantity& quantity) {
    const auto parsed = k8s::Quantity::parse(json.get<std::string>());
    if (!parsed) throw NotKnown();
    quantity = *parsed;
  }
  static void read(const nlohmann::json& json, std::chrono::seconds& seconds) {
    seconds = std::chrono::seconds(json.get<std::int64_t>());
  }
  template <typename T>
  static void read(const nlohmann::json& json, std::optional<T>& value) {
    if (!json.is_null()) read(json, value.emplace());
  }
  template <Described T>
  static void read(const nlohmann::json& json, std::vector<T>& list) {
    for (const auto& one : json) read(one, list.emplace_back());
  }
  template <typename T>
  static void read(const nlohmann::json& json, T& value) {
    if constexpr (Described<T>) {
      const JsonReader reader(json);
      fields(reader, value);
    } else {
      json.get_to(value);
    }
  }

  const nlohmann::json& json_;
};

// On error: the reason why the text is no such answer.
template <typename Answer>
tl::expected<Answer, std::string> read_answer(std::string_view text) try {
  const auto json = nlohmann::json::parse(text);
  const JsonReader reader(json);
  Answer answer{};
  fields(reader, answer);
  return answer;
} catch (const NotKnown&) {
  return tl::unexpected<std::string>("the answer is not one that this version knows");
} catch (const nlohmann::json::exception&) {
  return tl::unexpected<std::string>("the answer is no JSON of an answer");
}

}  // namespace

tl::expected<Overview, std::string> read_overview(std::string_view text) {
  return read_answer<Overview>(text);
}
tl::expected<Queue, std::string> read_queue(std::string_view text) {
  return read_answer<Queue>(text);
}
tl::expected<QuotasSeen, std::string> read_quotas(std::string_view text) {
  return read_answer<QuotasSeen>(text);
}
tl::expected<Why, std::string> read_why(std::string_view text) { return read_answer<Why>(text); }

}  // namespace sched::answers
