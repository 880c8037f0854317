// The engine at its limits: requests that cannot fit, blocks that must return, text without end.
#include <gtest/gtest.h>

#include "tests/support/golden.h"

namespace platen::testing {
namespace {

Request RequestOf(const Model& model, const std::string& snapshot, const std::string& name) {
  Request request = GoldenRequest(model, GoldenCase("tests/golden/cases/" + snapshot + "/" + name));
  request.max_new_tokens = 24;
  request.ignore_stop = true;
  return request;
}

TEST(Engine, RefusesARequestThatCanNeverFit) {
  const Model& model = GoldenModel("tiny-a");
  EngineOptions options;
  options.kv_cache_bytes = 1;  // one block
  Engine engine(model, options);
  try {
    engine.Prepare(RequestOf(model, "tiny-a", "exif6"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(error.reason().find("--kv-cache-mib"), std::string::npos) << error.reason();
  }
}

TEST(Engine, ReturnsEveryBlock) {
  const Model& model = GoldenModel("tiny-a");
  Engine engine(model, {});
  RunToEnd(engine, RequestOf(model, "tiny-a", "exif6"));
  auto dropped = engine.Prepare(RequestOf(model, "tiny-a", "gray"));
  ASSERT_TRUE(engine.TryReserve(*dropped));
  engine.Discard(*dropped);
  EXPECT_EQ(engine.stats().kv_blocks_free, engine.stats().kv_blocks_total);
}

TEST(LoopGuard, FiresOnEndlessRepetitionAndNotOnOrdinaryText) {
  const auto pushes_until_loop = [](const std::vector<TokenId>& period, int most) {
    LoopGuard guard;
    std::vector<TokenId> decided;
    for (int i = 0; i < most; ++i) {
      decided.push_back(period[static_cast<size_t>(i) % period.size()]);
      if (guard.Push(decided)) return i + 1;
    }
    return -1;
  };
  EXPECT_EQ(pushes_until_loop({7}, 1000), LoopGuard::kMinTokens + 1);
  EXPECT_EQ(pushes_until_loop({1, 2, 3}, 1000), LoopGuard::kMinTokens + 3);
  std::vector<TokenId> long_period(LoopGuard::kMaxPeriod);
  for (size_t i = 0; i < long_period.size(); ++i) long_period[i] = static_cast<TokenId>(i);
  EXPECT_EQ(pushes_until_loop(long_period, 2000),
            LoopGuard::kMaxPeriod * (LoopGuard::kMinPeriods + 1));
  long_period.push_back(999);
  EXPECT_EQ(pushes_until_loop(long_period, 5000), -1);
}

}  // namespace
}  // namespace platen::testing
