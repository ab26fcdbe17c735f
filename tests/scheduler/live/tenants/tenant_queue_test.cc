// The queue and the quotas of a tenant's namespaces.
#include "tests/scheduler/live/tenants/world.h"

#include <chrono>
#include <string>

using namespace tests::tenants;

TEST_CASE("who may get pods and not list them is not told which there are") {
  SharedQuota world;
  world.rights["eve"] = {"get pods in \"red\""};
  const Reply got = world.get(kRed, "eve", "/answers/queue");
  CHECK(got.status == 403);
  CHECK_THAT(*got.body,
             Catch::Contains("\"eve\" cannot list pods in \"red\"") && !Catch::Contains("waits"));
  CHECK(world.get(kWaits, "eve").status == 200);
  CHECK(world.get(kRed, "eve", "/answers/quota").status == 200);
}

TEST_CASE("a tenant is told which of its pods wait, and their places among those of others") {
  SharedQuota world;
  const std::string text = world.body(kRed, "red-user", "/answers/queue");
  const Json got = Json::parse(text);
  CHECK(got["kind"] == "Queue");
  REQUIRE(got["pods"].size() == 3);
  const Json& first = got["pods"][0];
  CHECK(first["pod"] == Json::parse(R"({"namespace": "red", "name": "waits"})"));
  CHECK(first["position"] == 1);
  CHECK(first["placeInLine"] == 2);  // behind one of another namespace
  CHECK(first["lineLength"] == 3);
  CHECK(first["quota"] == "shared");
  CHECK(first["asks"] == "8 GPU");
  const Json& second = got["pods"][1];  // it came when there was the quota
  CHECK(second["placeInLine"] == 3);
  CHECK(second["blockedBy"] == "quota");
  CHECK_THAT(second["next"].get<std::string>(),
             Catch::Contains("8 of 8 in use") && Catch::Contains("3rd in line"));
  CHECK_THAT(second["message"].get<std::string>(), Catch::StartsWith("quota shared: "));
  CHECK(got["pods"][2]["blockedBy"] == "gates");
  CHECK(got["pods"][2]["placeInLine"] == 0);
  for (const char* name : {"machine-1", "blue", "urgent", "secret"}) {
    CHECK_THAT(text, !Catch::Contains(name));
  }
  CHECK(world.queue("namespace=blue", "blue-user")["pods"][0]["placeInLine"] == 1);
  CHECK(world.queue("namespace=blue", "both")["pods"].size() == 1);
}

TEST_CASE("what pods wait for names no node to those who may not see nodes") {
  World world;  // without quota: its pod waits for nodes
  const std::string plain = world.body(kRed, "red-user", "/answers/queue");
  const Json got = Json::parse(plain)["pods"][0];
  CHECK(got["blockedBy"] == "nodes");
  CHECK(got["next"] == "nvidia.com/gpu: needs 8 on one node; most free is 0 of 8");
  CHECK_THAT(got["message"].get<std::string>(),
             Catch::StartsWith("nvidia.com/gpu: needs 8 on one node"));
  CHECK_THAT(plain, !Catch::Contains("machine-1"));
  // Nothing is full enough for the sentence to name a node: make one of it.
  decision::Unschedulable told;
  told.pod = {"red", "waits", world.pods.at("red/waits").metadata.uid};
  told.message = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.";
  told.details = "nvidia.com/gpu: needs 8 on one node; most free is 0 of 8 (machine-1). And more.";
  world.notes.decided(told);
  const Json withheld = Json::parse(world.body(kRed, "red-user", "/answers/queue"));
  CHECK(withheld["pods"][0]["message"] ==
        "nvidia.com/gpu: needs 8 on one node; most free is 0 of 8");
  CHECK(withheld["withheld"]["nodes"] == true);
  const Json whole = Json::parse(world.body(kRed, "operator", "/answers/queue"));
  CHECK(whole["pods"][0]["message"] ==
        "nvidia.com/gpu: needs 8 on one node; most free is 0 of 8 (machine-1)");
  CHECK_FALSE(whole.contains("withheld"));
}

TEST_CASE("a tenant is told of its pods whose scheduler's name is misspelt") {
  World world;
  world.add(World::ours("red", "typo").gpus(1).served_by("gpu-schedular"));
  world.add(World::ours("blue", "theirs").gpus(1).served_by("gpu-schedular"));
  const Json got = Json::parse(world.body(kRed, "red-user", "/answers/queue"));
  REQUIRE(got["notOurs"].size() == 1);
  CHECK(got["notOurs"][0]["pod"]["name"] == "typo");
  CHECK(got["notOurs"][0]["schedulerName"] == "gpu-schedular");
  CHECK(got["notOurs"][0]["meant"] == "gpu-scheduler");
}

TEST_CASE("of very many pods that wait the others are counted") {
  World world;
  for (int i = 0; i < 1'010; ++i) {
    world.add(World::ours("red", "p" + std::to_string(i))
                  .gpus(9)
                  .created_at(kNow + std::chrono::seconds(1)));
  }
  const Json got = Json::parse(world.body(kRed, "red-user", "/answers/queue"));
  CHECK(got["pods"].size() == 1'000);
  CHECK(got["leftOut"] == 11);
  CHECK(got["pods"][0]["pod"]["name"] == "waits");
  CHECK(got["pods"][1]["next"] == "its turn comes");
}

TEST_CASE("a tenant is told which quotas count its namespace, and who is first in line if it may") {
  SharedQuota world;
  const std::string text = world.body(kRed, "red-user", "/answers/quota");
  const Json got = Json::parse(text);
  CHECK(got["kind"] == "Quotas");
  CHECK(got["namespace"] == "red");
  REQUIRE(got["quotas"].size() == 2);
  CHECK(got["quotas"][0]["name"] == "shared");
  CHECK(got["quotas"][0]["parent"] == "department");
  CHECK(got["quotas"][0]["lines"][0] ==
        Json::parse(R"({"gpuType": "*", "use": {"guaranteed": "8", "used": "8", "borrowed": "0",
                                                "lent": "0", "pending": "11"}})"));
  CHECK(got["quotas"][1]["name"] == "department");
  CHECK(got["line"]["pods"] == 3);
  CHECK(got["line"]["head"].is_null());
  CHECK(got["line"]["firstOfNamespace"] == 2);
  CHECK(got["withheld"] == true);
  CHECK(got["selectedInVainBy"] == Json::array({"elsewhere"}));  // its own namespace is meant
  for (const char* name : {"blue", "urgent", "green"}) {
    CHECK_THAT(text, !Catch::Contains(name));
  }
  const Json both = world.quota(kRed, "both");
  CHECK(both["line"]["head"] == Json::parse(R"({"namespace": "blue", "name": "urgent"})"));
  CHECK_FALSE(both.contains("withheld"));
  // Its own pod is the first, and its quota's wish for another's namespace is told without that.
  world.rights["green-user"] = {"get pods in \"green\""};
  const std::string green = world.body("namespace=green", "green-user", "/answers/quota");
  CHECK_THAT(green, Catch::Contains("some namespaces that it selects belong to other quotas") &&
                        !Catch::Contains("red"));
  CHECK(world.quota("namespace=blue", "blue-user")["line"]["head"]["name"] == "urgent");
  // Where nothing counts them, there is no quota, and no reason is given.
  world.rights["eve"] = {"get pods in \"free\""};
  const Json none = world.quota("namespace=free", "eve");
  CHECK(none["quotas"].empty());
  CHECK(none["without"] == "");
  CHECK(none["line"]["pods"] == 0);
}

TEST_CASE("a tenant is told which of its pods run on borrowed GPUs") {
  World world;
  world.apply(
      event::QuotaUpserted{tests::gpu_quota("guest").of("red").in_cohort("c").line("*", 3)});
  world.apply(
      event::QuotaUpserted{tests::gpu_quota("lender").of("blue").in_cohort("c").line("*", 5)});
  const auto query = [&](const char* of, const char* token) {
    return Json::parse(world.body(std::string("namespace=") + of, token, "/answers/quota"));
  };
  const Json borrowed = query("red", "red-user")["borrowed"];
  REQUIRE(borrowed.size() == 1);
  CHECK(borrowed[0]["pod"] == "red/runs");
  CHECK(borrowed[0]["quota"] == "guest");
  CHECK(borrowed[0]["gpus"] == "2");
  CHECK(query("blue", "blue-user")["borrowed"].empty());
}

TEST_CASE(
    "queue and quota are for those who may get the pods of the namespace, within the budget") {
  SharedQuota world;
  for (const char* path : {"/answers/queue", "/answers/quota"}) {
    const std::size_t put = world.put.size();
    const Reply there = world.get("namespace=blue", "red-user", path);
    const Reply nothing = world.get("namespace=nothing", "red-user", path);
    CHECK(there.status == 403);
    CHECK(nothing.status == 403);
    CHECK(world.get(kRed, std::nullopt, path).status == 401);
    CHECK(world.put.size() == put);
  }
  for (int i = 4; i < 10; ++i) CHECK(world.get(kRed, "red-user", "/answers/queue").status == 200);
  CHECK(world.get(kRed, "red-user", "/answers/quota").status == 429);
  world.ask(kRed, "both", "/answers/quota");
  CHECK(world.reply(Unanswered::kNotDeciding).status == 503);
}
