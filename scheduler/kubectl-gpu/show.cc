#include "scheduler/kubectl-gpu/show.h"

#include "scheduler/base/ordinal.h"
#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/message.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sched::kubectl {
namespace {

using answers::Overview;
using answers::Pieces;
using answers::TypeRow;

constexpr std::size_t kReasonWidth = 80;
constexpr std::size_t kPlanReasonWidth = 120;

std::string or_dash(std::string text) { return text.empty() ? "-" : std::move(text); }

std::int64_t number(std::size_t count) { return static_cast<std::int64_t>(count); }

std::string used_of(std::int64_t used, std::int64_t total, const Style& style) {
  const std::string text = std::to_string(used) + "/" + std::to_string(total);
  const std::string drawn = bar(used, total, style);
  return drawn.empty() ? text : text + ' ' + drawn;
}

std::string type_of(const std::string& type, const std::string& form) {
  return or_dash(type) + (form.empty() ? "" : " " + form);
}

std::string sums(const Overview& overview) {
  const auto told = [](const Pieces& pieces, std::string_view what) {
    const std::string held = pieces.held == 0 ? "" : std::to_string(pieces.held) + " held  ";
    return counted(pieces.total, what) + "  " + std::to_string(pieces.used) + " used  " + held +
           std::to_string(pieces.free) + " free";
  };
  std::string text = told(overview.gpus, "GPU");
  if (overview.instances.total > 0) text += " | " + told(overview.instances, "MIG instance");
  if (overview.replicas.total > 0) text += " | " + told(overview.replicas, "shared piece");
  return text;
}

void show_waiting(TextOut out, const answers::Waiting& waiting) {
  if (waiting.pods == 0) {
    out << " | no pod waits";
    return;
  }
  out << " | " << counted(number(waiting.pods), "pod") << (waiting.pods == 1 ? " waits" : " wait");
  const std::int64_t gpus = waiting.gpus - waiting.instances;
  std::string asks = gpus > 0 || waiting.instances == 0 ? counted(gpus, "GPU") : "";
  if (waiting.instances > 0) {
    asks += (asks.empty() ? "" : ", ") + counted(waiting.instances, "MIG instance");
  }
  if (waiting.gated > 0) asks += ", " + std::to_string(waiting.gated) + " gated";
  if (waiting.never > 0) asks += ", " + std::to_string(waiting.never) + " never as written";
  out << " (" << asks << ')';
}

// The first line.
void show_verdict(TextOut out, const Overview& overview, const Style& style) {
  out << coloured(sums(overview), Colour::kBold, style);
  const auto backed_off =
      std::count_if(overview.closed.begin(), overview.closed.end(),
                    [](const answers::ClosedNode& node) { return node.backed_off; });
  const auto closed = number(overview.closed.size()) - backed_off;
  if (backed_off > 0) {
    out << " | " << coloured(counted(backed_off, "node") + " backed off", Colour::kRed, style);
  }
  if (closed > 0) {
    out << " | " << coloured(counted(closed, "node") + " closed", Colour::kYellow, style);
  }
  if (!overview.warned_quotas.empty()) {
    const bool is_one = overview.warned_quotas.size() == 1;
    out << " | "
        << coloured(counted(number(overview.warned_quotas.size()), "quota") +
                        (is_one ? " has a warning" : " have warnings"),
                    Colour::kYellow, style);
  }
  show_waiting(out, overview.waiting);
  out << '\n';
}

// "4.125", where the API server's form is "4125m".
std::string gpus_text(const k8s::Quantity& gpus) { return to_text(quota::GpuShare::of(gpus)); }

void show_next(TextOut out, const std::string& command, const Style& style,
               const std::string& comment = {}) {
  out << "Next: kubectl gpu " << command << style.cluster_flags << comment << '\n';
}

// The sum of what a node offers, over all forms.
struct NodeSums {
  std::int64_t total = 0;
  std::int64_t used = 0;
  std::int64_t free = 0;
  std::string forms;
};

NodeSums sums_of(const GpuNode& node) {
  NodeSums sums;
  for (const GpuPieces& pieces : node.pieces) {
    sums.total += pieces.total;
    sums.used += pieces.used;
    sums.free += pieces.free();
    const std::string form = pieces.form();
    if (!form.empty()) sums.forms += (sums.forms.empty() ? "" : ",") + form;
  }
  return sums;
}

std::string tenants_text(const GpuNode& node, const answers::PodNames& names) {
  std::string text;
  for (const GpuTenant& tenant : node.tenants) {
    text += (text.empty() ? "" : ", ") + names.of(tenant.uid) + " (" +
            std::to_string(tenant.pieces) + ")";
  }
  return text;
}

// "3rd of 17"; empty: in no line.
std::string in_line(const answers::QueueRow& row) {
  if (row.place_in_line == 0) return {};
  return ordinal(row.place_in_line) + " of " + std::to_string(row.line_length);
}

std::string name_of(const PodRef& pod) { return pod.namespace_ + "/" + pod.name; }

}  // namespace

void show(TextOut out, const Overview& overview, const Style& style) {
  show_verdict(out, overview, style);
  Table types({"TYPE", ">NODES", "USED", ">FREE", "LARGEST BLOCK", ">WHOLE NODES FREE"});
  for (const TypeRow& row : overview.types) {
    const std::string largest = std::to_string(row.largest_block) +
                                (row.largest_on.empty() ? "" : " (" + row.largest_on + ")");
    types.add({type_of(row.type, row.form), std::to_string(row.nodes),
               used_of(row.pieces.used, row.pieces.total, style), std::to_string(row.pieces.free),
               largest, std::to_string(row.whole_nodes_free)});
  }
  if (!types.empty()) types.print(out, style);
  if (!overview.closed.empty()) {
    Table closed({"CLOSED", ">GPUS", "WHY"});
    for (const answers::ClosedNode& node : overview.closed) {
      closed.add({node.node, std::to_string(node.pieces), node.why});
    }
    closed.print(out, style);
  }
  show_age(out, overview.data_age);
  if (!overview.warned_quotas.empty()) show_next(out, "quota" + style.scheduler_flags, style);
  if (overview.waiting.pods > 0) {
    show_next(out, "queue" + style.namespace_flag + style.scheduler_flags, style);
  }
}

void show(TextOut out, const std::vector<GpuNode>& nodes, const answers::PodNames& names,
          const Style& style) {
  std::vector<std::string> headers = {"NODE", "TYPE", "USED", ">FREE", ">PODS", "STATE"};
  if (style.wide) headers.emplace_back("GPUS OF");
  Table table(std::move(headers));
  for (const GpuNode& node : nodes) {
    const NodeSums sums = sums_of(node);
    std::vector<std::string> row = {node.node,
                                    type_of(node.type, sums.forms),
                                    used_of(sums.used, sums.total, style),
                                    std::to_string(node.closed.empty() ? sums.free : 0),
                                    std::to_string(node.pods),
                                    node.closed.empty() ? "open" : "closed: " + node.closed};
    if (style.wide) row.push_back(or_dash(tenants_text(node, names)));
    table.add(std::move(row));
  }
  if (table.empty()) {
    out << (style.namespace_flag.empty() ? "No node has GPUs" : "No pod of the namespace has GPUs")
        << '\n';
  } else {
    table.print(out, style);
    if (!style.wide) {
      show_next(out, "nodes -o wide" + style.namespace_flag, style,
                "   # whose pods have the GPUs");
    }
  }
}

void show(TextOut out, const answers::Queue& queue, const Style& style) {
  if (queue.rows.empty() && queue.never.empty() && queue.unserved.empty()) {
    out << "No pod" << (style.namespace_flag.empty() ? "" : " of the namespace") << " waits\n";
    show_age(out, queue.data_age);
    return;
  }
  if (!queue.rows.empty()) {
    Table table({">#", "POD", "QUOTA", "IN LINE", "ASKS", ">WAITED", "BLOCKED BY", "NEXT"});
    for (const answers::QueueRow& row : queue.rows) {
      const std::string& next = style.wide && !row.message.empty() ? row.message : row.next;
      table.add({std::to_string(row.position), name_of(row.pod), or_dash(row.quota),
                 or_dash(in_line(row)), or_dash(row.asks), age(row.created, style.now),
                 or_dash(row.blocked_by),
                 or_dash(style.wide ? next : shortened(next, kReasonWidth))});
    }
    table.print(out, style);
  }
  if (queue.left_out > 0) {
    out << "and " << counted(number(queue.left_out), "pod") << " more\n";
  }
  for (const answers::NeverRow& row : queue.never) {
    out << coloured("NEVER AS WRITTEN", Colour::kRed, style) << "  " << name_of(row.pod) << ": "
        << row.why << '\n';
  }
  for (const answers::UnservedRow& row : queue.unserved) {
    out << coloured("NOT OURS", Colour::kYellow, style) << "  " << name_of(row.pod)
        << ": schedulerName \"" << row.scheduler_name << '"';
    if (!row.meant.empty()) out << ", is \"" << row.meant << "\" meant?";
    out << '\n';
  }
  show_age(out, queue.data_age);
  if (!queue.rows.empty()) {
    const PodRef& first = queue.rows.front().pod;
    show_next(out, "why pod/" + first.name + " -n " + first.namespace_ + style.scheduler_flags,
              style);
  }
}

namespace {

// The rows of the tree, as depth and index: each quota comes after its parent.
std::vector<std::pair<std::size_t, std::size_t>> as_tree(const std::vector<QuotaStatus>& quotas) {
  std::map<std::string, std::vector<std::size_t>> parts;  // by the parent's name
  for (std::size_t i = 0; i < quotas.size(); ++i) {
    const auto is_parent = [&](const QuotaStatus& each) { return each.name == quotas[i].parent; };
    const bool is_there = std::any_of(quotas.begin(), quotas.end(), is_parent);
    parts[is_there ? quotas[i].parent : ""].push_back(i);
  }
  std::vector<std::pair<std::size_t, std::size_t>> rows;  // depth, index
  std::vector<std::pair<std::size_t, std::size_t>> next;
  const auto add_parts = [&](const std::string& parent, std::size_t depth) {
    const std::vector<std::size_t> all = std::exchange(parts[parent], {});
    for (auto i = all.rbegin(); i != all.rend(); ++i) next.emplace_back(depth, *i);
  };
  add_parts("", 0);
  while (!parts.empty()) {
    while (!next.empty()) {
      rows.push_back(next.back());
      next.pop_back();
      const auto [depth, at] = rows.back();
      add_parts(quotas[at].name, depth + 1);
    }
    // The quotas that are left have parents in a cycle, and are not in force.
    std::erase_if(parts, [](const auto& entry) { return entry.second.empty(); });
    if (!parts.empty()) add_parts(parts.begin()->first, 0);
  }
  return rows;
}

void show_accounts(TextOut out, const std::vector<QuotaStatus>& quotas, const Style& style) {
  Table table({"QUOTA", "TYPE", "USED", ">BORROWED", ">LENT", ">PENDING"});
  for (const auto& [depth, at] : as_tree(quotas)) {
    const QuotaStatus& quota = quotas[at];
    for (const k8s::GpuQuota::LineStatus& line : quota.status.quotas) {
      const k8s::GpuQuota::Use& use = line.use;
      const std::string drawn = bar(use.used.milli_value(), use.guaranteed.milli_value(), style);
      table.add({std::string(2 * depth, ' ') + quota.name, line.gpu_type,
                 gpus_text(use.used) + "/" + gpus_text(use.guaranteed) +
                     (drawn.empty() ? "" : " " + drawn),
                 gpus_text(use.borrowed), gpus_text(use.lent), gpus_text(use.pending)});
    }
  }
  table.print(out, style);
  for (const QuotaStatus& quota : quotas) {
    for (const k8s::Condition& condition : quota.status.conditions) {
      if (!answers::is_warning(condition)) continue;
      const std::string what = condition.type == "Ready" ? "not Ready" : condition.type;
      out << coloured(quota.name + ": " + what, Colour::kYellow, style) << ": " << condition.message
          << '\n';
    }
  }
}

void show_loans(TextOut out, const std::vector<answers::Loan>& loans, const Style& style) {
  if (loans.empty()) return;
  out << "Borrowed, the latest loan first:\n";
  Table table({"POD", "QUOTA", "TYPE", ">GPUS", ">SINCE"});
  for (const answers::Loan& loan : loans) {
    table.add(
        {loan.pod, loan.quota, loan.gpu_type, gpus_text(loan.gpus), age(loan.since, style.now)});
  }
  table.print(out, style);
}

void show_line(TextOut out, const answers::QuotasSeen& quotas, const Style& style) {
  const NamespaceQuotas& of = quotas.of;
  if (of.in_line == 0) return;
  out << "In line: " << counted(number(of.in_line), "pod") << "; the first, "
      << (of.head ? name_of(*of.head) : "of another namespace") << ", waits "
      << age(of.head_since, style.now);
  if (of.first_place > 1) {
    out << "; the first of " << quotas.namespace_ << " is " << ordinal(of.first_place);
  }
  if (of.first_place == 0) out << "; none is of " << quotas.namespace_;
  out << '\n';
}

}  // namespace

void show(TextOut out, const answers::QuotasSeen& quotas, const Style& style) {
  const NamespaceQuotas& of = quotas.of;
  if (!of.quotas.empty()) {
    show_accounts(out, of.quotas, style);
  } else if (of.without.empty()) {
    out << "No GpuQuota counts namespace " << quotas.namespace_ << '\n';
  }
  if (!of.without.empty()) {
    out << coloured("NO GPUS", Colour::kRed, style) << "  " << of.without << '\n';
  }
  if (!of.selecting_without_effect.empty() && !of.quotas.empty()) {
    std::string sentence = quota::without_effect_message(of.selecting_without_effect,
                                                         of.quotas.front().name, quotas.namespace_);
    sentence.front() = 'Q';
    out << sentence << '\n';
  }
  show_line(out, quotas, style);
  if (style.wide) show_loans(out, quotas.loans, style);
  show_age(out, quotas.data_age);
}

namespace {

void show_uses(TextOut out, const std::vector<QuotaUse>& uses, const Style& style) {
  if (uses.empty()) return;
  out << "Used by:\n";
  Table table({"QUOTA", "TYPE", "NAMESPACE", ">GPUS", ">PODS"});
  for (const QuotaUse& use : uses) {
    table.add({use.quota, or_dash(use.gpu_type), use.namespace_, gpus_text(use.gpus),
               std::to_string(use.pods)});
  }
  table.print(out, style);
}

}  // namespace

void show(TextOut out, const answers::AllQuotas& quotas, const Style& style) {
  if (quotas.quotas.empty()) {
    out << "No GpuQuota is in force\n";
    return;
  }
  show_accounts(out, quotas.quotas, style);
  if (!style.wide) return;
  show_uses(out, quotas.uses, style);
  show_loans(out, quotas.loans, style);
}

namespace {

// " (nodes 5, quota 3)"
std::string causes(const answers::Plan& plan) {
  std::string text;
  for (const auto& [cause, pods] : plan.causes()) {
    text += (text.empty() ? " (" : ", ") + cause + " " + std::to_string(pods);
  }
  return text.empty() ? text : text + ')';
}

void show_still_waiting(TextOut out, const answers::Plan& plan, const Style& style) {
  constexpr std::size_t kMost = 20;
  if (plan.still_waiting() == 0) return;
  if (!style.wide) {
    out << "  -o wide says why each of them waits\n";
    return;
  }
  Table table({"STILL WAITING", "BLOCKED BY", "NEXT"}, 2);
  for (const answers::QueueRow& row : plan.first_still_waiting(kMost)) {
    table.add({name_of(row.pod), or_dash(row.blocked_by), or_dash(row.next)});
  }
  if (!table.empty()) table.print(out, style);
  if (plan.still.rows.size() > kMost) {
    out << "  and " << counted(number(plan.still.rows.size() - kMost), "pod") << " more\n";
  }
}

void show_names(TextOut out, const char* what, const std::vector<PodRef>& pods) {
  if (pods.empty()) return;
  out << what << ':';
  for (const PodRef& pod : pods) out << ' ' << name_of(pod);
  out << '\n';
}

}  // namespace

void show(TextOut out, const answers::Plan& plan, const Style& style) {
  using Origin = answers::PlanRow::Origin;
  const auto told = [&](const answers::PlanRow& row) {
    return name_of(row.pod) + (row.origin == Origin::kEvicted ? " (evicted)" : "");
  };
  const std::string started = counted(number(plan.starts.size()), "pod");
  out << coloured("Would start: ", plan.starts.empty() ? Colour::kNone : Colour::kGreen, style);
  if (plan.starts.size() == 1) {
    out << told(plan.starts.front()) << " → " << plan.starts.front().node;
  } else {
    out << started;
  }
  out << ". Still waiting: " << plan.still_waiting() << causes(plan) << '\n';
  if (plan.starts.size() > 1) {
    Table table({"POD", "NODE"}, 2);
    for (const answers::PlanRow& row : plan.starts) table.add({told(row), row.node});
    table.print(out, style);
  }
  if (!plan.waits.empty()) {
    out << coloured("Would wait: " + counted(number(plan.waits.size()), "pod"), Colour::kRed, style)
        << '\n';
    Table table({"POD", "BECAUSE"}, 2);
    for (const answers::PlanRow& row : plan.waits) {
      table.add({told(row), style.wide ? row.why : shortened(row.headline, kPlanReasonWidth)});
    }
    table.print(out, style);
  }
  show_names(out, "Would start, but for the drain", plan.held_up);
  show_names(out, "Replaced by the files", plan.replaced);
  show_names(out, "Would end, and no controller creates it anew", plan.ended);
  show_names(out, "Would end, and be created anew for another scheduler", plan.elsewhere);
  show_still_waiting(out, plan, style);
  if (plan.start_anyway > 0) {
    out << counted(number(plan.start_anyway), "pod") << " would start without the change, too\n";
  }
}

}  // namespace sched::kubectl
