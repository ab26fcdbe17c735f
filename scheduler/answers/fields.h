// The JSON of answers, field by field: each struct is described once, for writing (json.cc) and for
// reading (read_json.cc). The order here is the order of the keys. An archive has
//
//   kind(name)                  which answer it is; must be the expected one
//   field(key, value)           always written; an optional or a time may be null
//   required(key, value)        the same; reading fails without it
//   field_if(is_set, key, …)    written as null unless it is set
//   optional(key, value)        left out if it is empty, 0 or false
//   computed(key, value)        written for readers' convenience, never read
//   object(key, describe)       an object that has no struct; left out if it has no fields
#pragma once

#include "scheduler/answers/overview.h"
#include "scheduler/answers/queue.h"
#include "scheduler/answers/quotas.h"
#include "scheduler/answers/why.h"

#include <concepts>
#include <type_traits>

namespace sched::answers {

// A const T to be written, or a T to be read into.
template <typename Given, typename T>
concept Of = std::same_as<std::remove_const_t<Given>, T>;

void fields(auto& archive, Of<PodRef> auto& pod) {
  archive.field("namespace", pod.namespace_);
  archive.field("name", pod.name);
}

// Overview

void fields(auto& archive, Of<Pieces> auto& pieces) {
  archive.field("total", pieces.total);
  archive.field("used", pieces.used);
  archive.field("held", pieces.held);
  archive.field("free", pieces.free);
}
void fields(auto& archive, Of<TypeRow> auto& row) {
  archive.field("type", row.type);
  archive.field("form", row.form);
  archive.field("nodes", row.nodes);
  archive.field("pieces", row.pieces);
  archive.field("largestBlock", row.largest_block);
  archive.field("largestBlockOn", row.largest_on);
  archive.field("wholeNodesFree", row.whole_nodes_free);
}
void fields(auto& archive, Of<ClosedNode> auto& node) {
  archive.field("node", node.node);
  archive.field("why", node.why);
  archive.field("pieces", node.pieces);
  archive.field("backedOff", node.backed_off);
}
void fields(auto& archive, Of<Waiting> auto& waiting) {
  archive.field("pods", waiting.pods);
  archive.field("gpus", waiting.gpus);
  archive.field("migInstances", waiting.instances);
  archive.field("gated", waiting.gated);
  archive.field("never", waiting.never);
}
void fields(auto& archive, Of<Overview> auto& overview) {
  archive.kind("Overview");
  archive.field("gpus", overview.gpus);
  archive.field("migInstances", overview.instances);
  archive.field("replicas", overview.replicas);
  archive.field("types", overview.types);
  archive.field("closedNodes", overview.closed);
  archive.field("waiting", overview.waiting);
  archive.field("quotasWithWarnings", overview.warned_quotas);
  archive.optional("dataAgeSeconds", overview.data_age);
}

// Queue

void fields(auto& archive, Of<QueueRow> auto& row) {
  archive.field("position", row.position);
  archive.field("placeInLine", row.place_in_line);
  archive.field("lineLength", row.line_length);
  archive.field("pod", row.pod);
  archive.field("quota", row.quota);
  archive.field("asks", row.asks);
  archive.field("gpus", row.gpus);
  archive.field("created", row.created);
  archive.field("blockedBy", row.blocked_by);
  archive.field("next", row.next);
  archive.field("message", row.message);
}
void fields(auto& archive, Of<NeverRow> auto& row) {
  archive.field("pod", row.pod);
  archive.field("why", row.why);
}
void fields(auto& archive, Of<UnservedRow> auto& row) {
  archive.field("pod", row.pod);
  archive.field("schedulerName", row.scheduler_name);
  archive.field("meant", row.meant);
}
void fields(auto& archive, Of<Queue> auto& queue) {
  archive.kind("Queue");
  archive.field("pods", queue.rows);
  archive.field("neverAsWritten", queue.never);
  archive.field("notOurs", queue.unserved);
  archive.optional("leftOut", queue.left_out);
  archive.optional("dataAgeSeconds", queue.data_age);
  archive.object("withheld",
                 [&](auto& withheld) { withheld.optional("nodes", queue.nodes_withheld); });
}

// Quotas

void fields(auto& archive, Of<k8s::GpuQuota::Use> auto& use) {
  archive.field("guaranteed", use.guaranteed);
  archive.field("used", use.used);
  archive.field("borrowed", use.borrowed);
  archive.field("lent", use.lent);
  archive.field("pending", use.pending);
}
void fields(auto& archive, Of<k8s::GpuQuota::LineStatus> auto& line) {
  archive.field("gpuType", line.gpu_type);
  archive.field("use", line.use);
}
void fields(auto& archive, Of<k8s::Condition> auto& condition) {
  archive.field("type", condition.type);
  archive.field("status", condition.status);
  archive.field("reason", condition.reason);
  archive.field("message", condition.message);
}
void fields(auto& archive, Of<QuotaStatus> auto& quota) {
  archive.field("name", quota.name);
  archive.field("parent", quota.parent);
  archive.field("total", quota.status.total);
  archive.field("lines", quota.status.quotas);
  archive.field("conditions", quota.status.conditions);
}
void fields(auto& archive, Of<QuotaUse> auto& use) {
  archive.field("quota", use.quota);
  archive.field("gpuType", use.gpu_type);
  archive.field("namespace", use.namespace_);
  archive.field("pods", use.pods);
  archive.field("gpus", use.gpus);
}
void fields(auto& archive, Of<Loan> auto& loan) {
  archive.field("pod", loan.pod);
  archive.field("quota", loan.quota);
  archive.field("gpuType", loan.gpu_type);
  archive.field("gpus", loan.gpus);
  archive.field("since", loan.since);
}
void fields(auto& archive, Of<AllQuotas> auto& quotas) {
  archive.kind("Quotas");
  archive.field("quotas", quotas.quotas);
  archive.field("usedBy", quotas.uses);
  archive.field("borrowed", quotas.loans);
}
void fields(auto& archive, Of<QuotasSeen> auto& quotas) {
  auto& of = quotas.of;
  archive.kind("Quotas");
  archive.field("quotas", of.quotas);
  archive.field("namespace", quotas.namespace_);
  archive.field("without", of.without);
  archive.object("line", [&](auto& line) {
    line.field("pods", of.in_line);
    line.field("head", of.head);
    line.field_if(of.in_line > 0, "headSince", of.head_since);
    line.field("firstOfNamespace", of.first_place);
  });
  archive.optional("dataAgeSeconds", quotas.data_age);
  archive.field("borrowed", quotas.loans);
  archive.field("selectedInVainBy", of.selecting_without_effect);
  archive.optional("withheld", quotas.is_withheld);
}

// Nodes

void fields(auto& archive, Of<GpuPieces> auto& pieces) {
  archive.field("resource", pieces.resource);
  archive.computed("form", pieces.form());
  archive.field("total", pieces.total);
  archive.field("used", pieces.used);
  archive.field("held", pieces.held);
  archive.computed("free", pieces.free());
}

// Why

void fields(auto& archive, Of<ReasonRow> auto& row) {
  archive.field("nodes", row.nodes);
  archive.field("reason", row.reason);
  archive.field("example", row.example);
}
void fields(auto& archive, Of<PluginScore> auto& score) {
  archive.field("plugin", score.plugin);
  archive.field("score", score.score);
  archive.field("weight", score.weight);
}
void fields(auto& archive, Of<Candidate> auto& candidate) {
  archive.field("node", candidate.node);
  archive.field("totalScore", candidate.total_score);
  archive.field("scores", candidate.scores);
}
void fields(auto& archive, Of<Remedy> auto& remedy) {
  archive.field("what", remedy.change.what);
  archive.field("to", remedy.change.to);
  archive.field("node", remedy.change.node);
  archive.field("podsEnd", remedy.ends);
}
void fields(auto& archive, Of<Chosen::RunnerUp> auto& second) {
  archive.field("node", second.node);
  archive.field("score", second.score);
}
void fields(auto& archive, Of<Chosen> auto& chosen) {
  archive.field("decision", chosen.decision);
  archive.field("at", chosen.at);
  archive.field("score", chosen.score);
  archive.field("fittingNodes", chosen.fitting_nodes);
  archive.field("allNodes", chosen.all_nodes);
  archive.field("attempts", chosen.attempts);
  archive.field("waitedSeconds", chosen.waited);
  archive.field("runnerUp", chosen.runner_up);
  if (chosen.runner_up) archive.computed("margin", chosen.score - chosen.runner_up->score);
}
void fields(auto& archive, Of<Withheld> auto& withheld) {
  archive.field("nodes", withheld.nodes);
  archive.field("podsThatEnd", withheld.pods);
  archive.field("gpusOfPodsThatEnd", withheld.gpus);
}
void fields(auto& archive, Of<Why> auto& why) {
  archive.kind("Why");
  archive.required("verdict", why.verdict);
  archive.required("pod", why.pod);
  archive.field("schedulerName", why.scheduler_name);
  archive.field("asks", why.asks);
  archive.field("quota", why.quota);
  archive.required("since", why.since);
  archive.field("node", why.node);
  archive.field("headline", why.headline);
  archive.field("allNodes", why.all_nodes);
  archive.field("fittingNodes", why.fitting_nodes);
  archive.field("reasons", why.reasons);
  archive.field("details", why.details);
  archive.field("candidates", why.candidates);
  archive.object("freesWhen", [&](auto& room) {
    room.field("node", why.room.node);
    room.field("podsEnd", why.ends);
  });
  archive.field("wouldRunOnOneMore", why.room.if_empty);
  archive.field("wouldRunOnOneMoreOfType", why.room.if_empty_type);
  archive.field("wouldRunIfChanged", why.remedies);
  archive.field("waitsForNodes", why.is_for_nodes);
  archive.field("waitsForPods", why.is_for_pods);
  archive.field("waitsForQuota", why.is_for_quota);
  archive.field("quotaNeverGives", why.quota_never_gives);
  archive.optional("chosen", why.chosen);
  archive.optional("dataAgeSeconds", why.data_age);
  archive.optional("withheld", why.withheld);
}

}  // namespace sched::answers
