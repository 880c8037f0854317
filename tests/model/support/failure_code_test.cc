#include "model/support/failure_code.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "model/support/attempt.h"

namespace platen {
namespace {

TEST(FailureCode, EachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(FailureCode::kInternal); ++i) {
    const auto code = static_cast<FailureCode>(i);
    EXPECT_TRUE(names.insert(FailureCodeName(code)).second);
    EXPECT_EQ(FailureCodeFrom(FailureCodeName(code)), code);
  }
  EXPECT_EQ(FailureCodeFrom("Timeout"), std::nullopt);
  EXPECT_EQ(FailureCodeFrom(""), std::nullopt);
}

TEST(FailureCode, AnErrorHasItsOwnOrTheUsualOfItsKind) {
  const auto code = [](const auto& work) { return AttemptWith(FailureCode::kModel, work).code; };
  EXPECT_EQ(code([] { throw Error(ErrorKind::kInput, {}, "x"); }), FailureCode::kDecodeError);
  EXPECT_EQ(code([] { throw Error(ErrorKind::kInput, {}, "x", FailureCode::kTooLarge); }),
            FailureCode::kTooLarge);
  EXPECT_EQ(code([] { throw std::bad_alloc(); }), FailureCode::kOutOfMemory);
  EXPECT_EQ(code([] { throw std::runtime_error("x"); }), FailureCode::kModel);
  EXPECT_TRUE(AttemptWith(FailureCode::kModel, [] {}).empty());
  EXPECT_EQ(code([] {
              WithErrorKind(ErrorKind::kEnvironment,
                            [] { throw Error(ErrorKind::kInput, {}, "x", FailureCode::kTimeout); });
            }),
            FailureCode::kTimeout);
}

}  // namespace
}  // namespace platen
