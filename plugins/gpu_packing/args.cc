#include "plugins/gpu_packing/args.h"

#include "plugins/support/args.h"
#include "scheduler/gpu/wishes.h"

#include <string>

namespace plugins {

namespace {

using k8s::yaml::ObjectReader;

void read_types(ObjectReader& args, GpuPackingArgs& read) {
  constexpr std::string_view kKey = "cheapTypesFirst";
  for (const std::string& name : args.strings(kKey)) {
    read.cheap_types_first.push_back(sched::gpu::parse_type_name(name));
    if (!sched::gpu::names_something(read.cheap_types_first.back())) {
      args.complain(kKey, "'" + name + "' is not a GPU type, such as A100-80GB");
    }
  }
  if (read.cheap_types_first.size() > sched::gpu::Wishes::kMostTypes) {
    args.complain(kKey, "has more than 16 types");
  }
}

}  // namespace

GpuPackingArgs read_gpu_packing_args(ObjectReader& args) {
  GpuPackingArgs read;
  read_type(args, "GpuPackingArgs");
  read.pods_without_gpu_apart =
      args.boolean("podsWithoutGpuApart").value_or(read.pods_without_gpu_apart);
  read.pack_pieces = args.boolean("packPieces").value_or(read.pack_pieces);
  read.keep_whole_nodes =
      args.integer("keepWholeNodes", {.min = 0, .max = 64'000}).value_or(read.keep_whole_nodes);
  read.conserve_cpu =
      args.integer("conserveCpu", {.min = 0, .max = 100}).value_or(read.conserve_cpu);
  read.model_prices = args.boolean("modelPrices").value_or(read.model_prices);
  read_types(args, read);
  return read;
}

}  // namespace plugins
