#include "bench/verdicts/case.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/yaml/object_reader.h"
#include "plugins/registry.h"

#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace bench::verdicts {

namespace {

using simdjson::dom::element;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// The field with the objects of a kind: its plural, with capitals where later words of its name
// begin: "csiStorageCapacities".
std::string field_of(const k8s::ObjectKind& kind) {
  std::string field(kind.plural);
  for (std::size_t i = 1; i + 1 < kind.name.size(); ++i) {
    if (is_upper(kind.name[i]) && !is_upper(kind.name[i + 1])) field[i] = kind.name[i];
  }
  return field;
}

// Reads the fields of one case; the first error is stored, as in an ObjectReader.
class CaseReader {
 public:
  explicit CaseReader(Case& read) : case_(read) {}

  void read(std::string_view key, element value) {
    if (key == "id") {
      case_.id = text(value, key);
    } else if (key == "pluginConfig") {
      plugin_config(value);
    } else if (key == "pod") {
      has_pod_ = true;
      object(value, key, case_.pod);
    } else if (key == "verdicts") {
      verdicts(value);
    } else if (key == "scores") {
      scores(value);
    } else if (key == "preemption") {
      preemption(value);
    } else if (key == "message") {
      answer().message = text(value, key);
    } else if (!is_unneeded(key) && !read_objects(key, value)) {
      complain(key, "is not a field of a case");
    }
  }

  [[nodiscard]] k8s::Result<void> finish() {
    if (!has_pod_) complain("pod", "is missing");
    if (error_) return tl::unexpected(*error_);
    return {};
  }

 private:
  static bool is_unneeded(std::string_view key) { return key == "focus" || key == "preFilter"; }

  void complain(std::string_view where, const std::string& what) {
    if (!error_) error_ = k8s::decode_error(std::string(where) + ": " + what).value();
  }

  Answer& answer() {
    if (!case_.answer) case_.answer.emplace();
    return *case_.answer;
  }

  std::string text(element value, std::string_view where) {
    std::string_view found;
    if (value.get(found) != simdjson::SUCCESS) complain(where, "must be a string");
    return std::string(found);
  }

  template <typename T>
  void object(element value, const std::string_view where, T& into) {
    auto decoded = decoder_.object<T>(simdjson::minify(value));
    if (!decoded) {
      complain(where, decoded.error().message);
      return;
    }
    into = std::move(*decoded);
  }

  // Whether the field is a list of objects of some kind.
  bool read_objects(std::string_view key, element value) {
    bool found = false;
    sched::for_each_watched_kind([&]<typename Object>(const sched::Watched<Object>& /*kind*/) {
      // The answers are those of kube-scheduler, which has no quotas.
      if (std::is_same_v<Object, k8s::GpuQuota> || key != field_of(Object::kKind)) return;
      found = true;
      objects<Object>(value, key);
    });
    return found;
  }

  template <typename Object>
  void objects(element value, std::string_view key) {
    simdjson::dom::array items;
    if (value.is_null()) return;
    if (value.get(items) != simdjson::SUCCESS) {
      complain(key, "must be a list of objects");
      return;
    }
    std::size_t i = 0;
    for (const element item : items) {
      Object read;
      object(item, std::string(key) + "[" + std::to_string(i++) + "]", read);
      keep(std::move(read));
    }
  }
  void keep(k8s::Node node) { case_.nodes.push_back(std::move(node)); }
  void keep(k8s::Pod pod) { case_.pods.push_back(std::move(pod)); }
  template <typename Object>
  void keep(Object object) {
    case_.others.push_back(sched::event::Upserted<Object>{std::move(object)});
  }

  void plugin_config(element value) {
    constexpr const char* kWhere = "pluginConfig";
    const auto documents =
        k8s::yaml::parse("{\"pluginConfig\":" + simdjson::minify(value) + "}", kWhere);
    if (!documents || documents->size() != 1) return complain(kWhere, "cannot be read");
    k8s::yaml::ObjectReader reader(documents->front(), "");
    reader.objects(kWhere, [&](k8s::yaml::ObjectReader& entry) {
      const std::string name = entry.string("name").value_or("");
      const sched::PluginEntry* plugin = sched::find_plugin(plugins::registry(), name);
      if (plugin == nullptr) return entry.complain("name", "'" + name + "' is no plugin");
      if (const auto* given = entry.raw("args")) case_.args[name] = *given;
      entry.object("args", [&](auto& args) { static_cast<void>(plugin->make(args)); });
    });
    if (const auto error = reader.finish()) complain(kWhere, error->message);
  }

  void verdicts(element value) {
    simdjson::dom::object nodes;
    if (value.get(nodes) != simdjson::SUCCESS) {
      complain("verdicts", "must be an object: node → verdict");
      return;
    }
    for (const auto& [node, verdict] : nodes) {
      answer().nodes[std::string(node)] = read_verdict(verdict, "verdicts." + std::string(node));
    }
  }

  NodeVerdict read_verdict(element value, const std::string& where) {
    NodeVerdict verdict;
    simdjson::dom::object fields;
    if (value.get(fields) != simdjson::SUCCESS) {
      complain(where, "must be an object with code, plugin and reasons");
      return verdict;
    }
    bool has_code = false;
    for (const auto& [key, field] : fields) {
      if (key == "code") {
        has_code = true;
        verdict.code = read_code(text(field, where + ".code"), where);
      } else if (key == "plugin") {
        verdict.plugin = text(field, where + ".plugin");
      } else if (key == "reasons") {
        verdict.reasons = texts(field, where + ".reasons");
      } else {
        complain(where + "." + std::string(key), "is not a field of a verdict");
      }
    }
    if (!has_code) complain(where + ".code", "is missing");
    return verdict;
  }

  void scores(element value) {
    for_each_field(value, "scores", [&](const std::string& node, element plugins) {
      const std::string of_node = "scores." + node;
      Scores& scores = answer().scores[node];
      for_each_field(plugins, of_node, [&](const std::string& plugin, element fields) {
        const std::string of_plugin = of_node + "." + plugin;
        for_each_field(fields, of_plugin, [&](const std::string& key, element number) {
          read_score(of_plugin, key, number, scores[plugin]);
        });
      });
    });
  }

  void preemption(element value) {
    Preemption& read = answer().preemption.emplace();
    for_each_field(value, "preemption", [&](const std::string& key, element of) {
      if (key == "best") {
        const auto nodes = texts(of, "preemption.best");
        read.best = {nodes.begin(), nodes.end()};
      } else if (key == "victims") {
        for_each_field(of, "preemption.victims", [&](const std::string& node, element pods) {
          const auto names = texts(pods, "preemption.victims." + node);
          read.victims[node] = {names.begin(), names.end()};
        });
      } else {
        complain("preemption." + key, "is not a field of an answer");
      }
    });
  }

  void read_score(const std::string& where, const std::string& key, element number, Score& into) {
    std::int64_t read = 0;
    if (number.get(read) != simdjson::SUCCESS) complain(where, key + " must be a whole number");
    if (key == "normalized") {
      into.normalized = read;
    } else if (key == "weighted") {
      into.weighted = read;
    } else if (key != "raw") {
      complain(where, key + " is not a field of a score");
    }
  }

  template <typename Use>
  void for_each_field(element value, const std::string& where, Use&& use) {
    simdjson::dom::object fields;
    if (value.get(fields) != simdjson::SUCCESS) return complain(where, "must be an object");
    for (const auto& [key, field] : fields) use(std::string(key), field);
  }

  sched::Code read_code(const std::string& word, const std::string& where) {
    for (const auto code :
         {sched::Code::kOk, sched::Code::kUnschedulable, sched::Code::kUnresolvable}) {
      if (word == sched::to_string(code)) return code;
    }
    complain(where + ".code",
             "'" + word + "' is none of Success, Unschedulable, UnschedulableAndUnresolvable");
    return sched::Code::kOk;
  }

  std::vector<std::string> texts(element value, const std::string& where) {
    std::vector<std::string> read;
    simdjson::dom::array items;
    if (value.get(items) != simdjson::SUCCESS) {
      complain(where, "must be a list of strings");
      return read;
    }
    for (const element item : items) read.push_back(text(item, where));
    std::sort(read.begin(), read.end());
    return read;
  }

  Case& case_;
  k8s::Decoder decoder_;
  bool has_pod_ = false;
  std::optional<k8s::Error> error_;
};

}  // namespace

k8s::Result<Case> parse_case(std::string_view line, const std::string& place) {
  simdjson::dom::parser parser;
  simdjson::dom::object fields;
  // parse() copies the text, so any end of the buffer is fine.
  if (const auto error = parser.parse(line.data(), line.size(), true).get(fields)) {
    return k8s::decode_error(std::string("not a JSON object: ") + simdjson::error_message(error));
  }
  Case read;
  read.id = place;
  CaseReader reader(read);
  for (const auto& [key, value] : fields) reader.read(key, value);
  if (auto finished = reader.finish(); !finished) return tl::unexpected(finished.error());
  return read;
}

}  // namespace bench::verdicts
