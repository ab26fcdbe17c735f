#include "k8s-client/api/protobuf/objects.h"
#include "k8s-client/api/words.h"

namespace k8s::protobuf {
namespace {

// metav1.LabelSelectorRequirement and corev1.NodeSelectorRequirement have the same layout.
bool read(Value value, SelectorRequirement& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    switch (number) {
      case 1:
        return protobuf::read(field, out.key);
      case 2:
        out.op = selector_operator(field.bytes());
        return true;
      case 3:
        return protobuf::read_item(field, out.values);
      default:
        return true;
    }
  });
}

}  // namespace

bool read(Value value, LabelSelector& out) {
  std::vector<StringMap::Entry> labels;
  const bool ok = value.fields([&](std::uint32_t number, Value field) {
    if (number == 1) return read_entry(field, labels);
    if (number == 2) return read(field, out.match_expressions.emplace_back());
    return true;
  });
  out.match_labels = StringMap(std::move(labels));
  return ok;
}

bool read(Value value, NodeSelectorTerm& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number == 1) return read(field, out.match_expressions.emplace_back());
    if (number == 2) return read(field, out.match_fields.emplace_back());
    return true;
  });
}

bool read(Value value, NodeSelector& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number != 1) return true;
    NodeSelectorTerm term;
    const bool ok = read(field, term);
    out.add(std::move(term));
    return ok;
  });
}

}  // namespace k8s::protobuf
