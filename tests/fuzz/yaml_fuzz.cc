#include "k8s-client/yaml/object_reader.h"
#include "tests/fuzz/fuzz_target.h"

#include <string>

namespace {

using k8s::yaml::ObjectReader;

// Asks for every type of field, in every document, whatever is there.
void read_everything(ObjectReader& reader, int depth) {
  reader.string("name");
  reader.boolean("enabled");
  reader.integer("count", {.min = 0, .max = 10});
  reader.number("weight");
  reader.strings("words");
  reader.one_of("mode", {"fast", "slow"});
  if (depth == 0) return;
  reader.object("inner", [&](ObjectReader& inner) { read_everything(inner, depth - 1); });
  reader.objects("items", [&](ObjectReader& item) { read_everything(item, depth - 1); });
}

void check_reader(const k8s::yaml::Value& document) {
  ObjectReader reader(document, "file");
  read_everything(reader, 2);
  const auto error = reader.finish();
  fuzz::require(!error || error->message.starts_with("file:"), "a complaint names the file");
}

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  const auto documents = k8s::yaml::parse(fuzz::as_text(data, size), "file");
  if (!documents) {
    fuzz::require(documents.error().message.starts_with("file:"), "an error names the file");
    return;
  }
  for (const auto& document : *documents) {
    fuzz::require(!document.is_null(), "empty documents are left out");
    check_reader(document);
    const std::string json = k8s::yaml::to_json(document);
    const auto again = k8s::yaml::parse(json, "json");
    // YAML takes no key of more than 1,024 characters, and a tab takes six of them in JSON.
    if (!again && json.size() > 1'024) continue;
    fuzz::require(again && again->size() == 1, "a document as JSON is one document");
    fuzz::require(k8s::yaml::to_json(again->front()) == json, "and the same one");
  }
}
