// The pool of attention blocks as the engine sees it.
#include "model/ops/kv_cache.h"

#include <gtest/gtest.h>

#include "model/support/error.h"

namespace platen {
namespace {

CacheShape LargeModel() {
  CacheShape shape;
  shape.planes.assign(16, {8, 128, 128});
  return shape;
}

TEST(KvPool, SaysWhichOptionIsTooLargeForTheMachine) {
  // No address space of x86-64 holds 2^50 bytes.
  try {
    const KvPool pool(LargeModel(), KvType::kBf16, 32, int64_t{1} << 50);
    FAIL() << "reserved";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_STREQ(error.what(),
                 "the attention cache: cannot reserve 1,073,741,824 MiB of address space (Cannot "
                 "allocate memory); give a smaller --kv-cache-mib");
  }
}

}  // namespace
}  // namespace platen
