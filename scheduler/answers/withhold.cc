#include "scheduler/answers/withhold.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace sched::answers {
namespace {

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

// Calls `each` with the begin and the end of every word that may be a node's name, in order.
void for_each_word(std::string_view text,
                   const std::function<void(std::size_t begin, std::size_t end)>& each) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_of_name(text[end])) ++end;
    const std::size_t next = end + 1;
    // A sentence may end behind the name.
    while (end > at && (text[end - 1] == '.' || text[end - 1] == '-')) --end;
    if (end > at) each(at, end);
    at = next;
  }
}

std::vector<std::string*> sentences_of(Why& why) {
  std::vector<std::string*> sentences = {&why.headline, &why.details};
  for (ReasonRow& row : why.reasons) {
    sentences.push_back(&row.reason);
    sentences.push_back(&row.example);
  }
  // A node's label may have the node's name as its value.
  for (Remedy& remedy : why.remedies) sentences.push_back(&remedy.change.to);
  return sentences;
}

std::vector<std::string*> sentences_of(Queue& queue) {
  std::vector<std::string*> sentences;
  for (QueueRow& row : queue.rows) {
    sentences.push_back(&row.next);
    sentences.push_back(&row.message);
  }
  for (NeverRow& row : queue.never) sentences.push_back(&row.why);
  return sentences;
}

// "most free is 2 (gpu-7)" → "most free is 2"; "(first gpu-7: …)" → "(on one: …)"; "node gpu-7" →
// "a node".
std::string without(const std::vector<std::string>& names, const std::string& text) {
  std::string plain;
  std::size_t done = 0;
  for_each_word(text, [&](std::size_t begin, std::size_t end) {
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    if (!std::binary_search(names.begin(), names.end(), word)) return;
    plain.append(text, done, begin - done);
    done = end;
    for (const std::string_view before : {" (first ", " ("}) {
      if (!plain.ends_with(before) || !text.substr(end).starts_with(")")) continue;
      plain.resize(plain.size() - before.size());
      ++done;  // the bracket
      return;
    }
    if (plain.ends_with("(first ")) {
      plain.resize(plain.size() - std::string_view("first ").size());
      plain += "on one";
      return;
    }
    if (plain.ends_with("node ")) plain.resize(plain.size() - std::string_view("node ").size());
    plain += "a node";
  });
  return plain.append(text, done);
}

std::vector<std::string> nodes_named_in(const Engine& engine,
                                        const std::vector<std::string*>& sentences) {
  std::set<std::string> named;
  std::unordered_set<std::string> seen;  // many pods wait for the same
  for (const std::string* sentence : sentences) {
    if (!seen.insert(*sentence).second) continue;
    for_each_word(*sentence, [&](std::size_t begin, std::size_t end) {
      std::string word = sentence->substr(begin, end - begin);
      if (engine.knows_node(word)) named.insert(std::move(word));
    });
  }
  return {named.begin(), named.end()};
}

// "gpu-7: nvidia.com/gpu: asked 8, free 2 of 8" without the node.
std::string numbers_of(const std::string& example) {
  const auto colon = example.find(": ");
  return colon == std::string::npos ? std::string() : example.substr(colon + 2);
}

void withhold_nodes(Why& why, Withheld& withheld) {
  const auto take = [&](std::string& name) {
    withheld.nodes = withheld.nodes || !name.empty();
    name.clear();
  };
  if (why.verdict != Why::Verdict::kPlaced) take(why.node);
  take(why.room.node);
  take(why.room.if_empty);
  for (Remedy& remedy : why.remedies) take(remedy.change.node);
  withheld.nodes =
      withheld.nodes || !why.candidates.empty() || !why.reasons.empty() || !why.named_nodes.empty();
  why.candidates.clear();
  if (why.chosen && why.chosen->runner_up) take(why.chosen->runner_up->node);
  for (ReasonRow& row : why.reasons) row.example = numbers_of(row.example);
  for (std::string* sentence : sentences_of(why)) *sentence = without(why.named_nodes, *sentence);
  why.named_nodes.clear();
}

// "ml/train-0 (4)" → "ml"; empty where only the pod's uid is known.
std::string namespace_of(const std::string& end) {
  const auto slash = end.find('/');
  return slash == std::string::npos ? std::string() : end.substr(0, slash);
}

// Keeps the pods that may be seen; `ends` are their names. Returns the others.
std::vector<GpuTenant> take_unseen(std::vector<GpuTenant>& pods, std::vector<std::string>& ends,
                                   const Visible& visible) {
  std::vector<std::string> seen_ends;
  std::vector<GpuTenant> seen;
  std::vector<GpuTenant> unseen;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const bool is_seen = i < ends.size() && visible.shows_pods_of(namespace_of(ends[i]));
    if (is_seen) seen_ends.push_back(std::move(ends[i]));
    (is_seen ? seen : unseen).push_back(std::move(pods[i]));
  }
  ends = std::move(seen_ends);
  pods = std::move(seen);
  return unseen;
}

std::int64_t gpus_of(const std::vector<GpuTenant>& pods) {
  std::int64_t sum = 0;
  for (const GpuTenant& pod : pods) sum += pod.pieces;
  return sum;
}

void withhold_pods(Why& why, const Visible& visible, Withheld& withheld) {
  const auto unseen = take_unseen(why.room.pods, why.ends, visible);
  withheld.pods = unseen.size();
  withheld.gpus = gpus_of(unseen);
  for (Remedy& remedy : why.remedies) {
    const auto others = take_unseen(remedy.change.pods, remedy.ends, visible);
    if (others.empty()) continue;
    remedy.ends.push_back(std::to_string(others.size()) +
                          (others.size() == 1 ? " other pod (" : " other pods (") +
                          std::to_string(gpus_of(others)) + ")");
  }
}

}  // namespace

std::vector<std::string> nodes_named_in(const Engine& engine, const Why& why) {
  Why copy;  // of the sentences alone
  copy.headline = why.headline;
  copy.details = why.details;
  copy.reasons = why.reasons;
  copy.remedies = why.remedies;
  return nodes_named_in(engine, sentences_of(copy));
}

std::vector<std::string> nodes_named_in(const Engine& engine, const Queue& queue) {
  Queue copy = queue;
  return nodes_named_in(engine, sentences_of(copy));
}

std::set<std::string> namespaces_named_in(const Why& why) {
  std::set<std::string> namespaces;
  for (const std::string& end : why.ends) namespaces.insert(namespace_of(end));
  for (const Remedy& remedy : why.remedies) {
    for (const std::string& end : remedy.ends) namespaces.insert(namespace_of(end));
  }
  namespaces.erase("");
  return namespaces;
}

void withhold(Why& why, const Visible& visible) {
  Withheld withheld;
  if (!visible.nodes) withhold_nodes(why, withheld);
  withhold_pods(why, visible, withheld);
  if (withheld != Withheld{}) why.withheld = withheld;
}

void withhold(Queue& queue, const Visible& visible) {
  if (visible.nodes || queue.named_nodes.empty()) return;
  for (std::string* sentence : sentences_of(queue)) {
    *sentence = without(queue.named_nodes, *sentence);
  }
  queue.named_nodes.clear();
  queue.nodes_withheld = true;
}

void withhold(QuotasSeen& quotas, const Visible& visible) {
  NamespaceQuotas& of = quotas.of;
  if (of.head && !visible.shows_pods_of(of.head->namespace_)) {
    of.head.reset();
    quotas.is_withheld = true;
  }
  for (QuotaStatus& quota : of.quotas) {
    for (k8s::Condition& condition : quota.status.conditions) {
      // The one condition that names namespaces.
      if (condition.type != "NamespaceOverlap" || condition.message.empty()) continue;
      condition.message = "some namespaces that it selects belong to other quotas";
      quotas.is_withheld = true;
    }
  }
}

}  // namespace sched::answers
