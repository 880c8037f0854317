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

}  // namespace
}  // namespace platen::testing
