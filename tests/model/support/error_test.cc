#include "model/support/error.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

TEST(Error, TheTextNamesThePlaceAndLeavesOutWhatIsEmpty) {
  const auto text = [](const ErrorLocation& location) {
    return std::string(Error(ErrorKind::kInput, location, "reason").what());
  };
  EXPECT_EQ(text({"file", "field", 12}), "file: field (offset 12): reason");
  EXPECT_EQ(text({"file", ""}), "file: reason");
  EXPECT_EQ(text({"", "field"}), "field: reason");
  EXPECT_EQ(text({"", "", 12}), "(offset 12): reason");
  EXPECT_EQ(text({"", ""}), "reason");
}

}  // namespace
}  // namespace platen
