#include "model/support/hex.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

TEST(Hex, IsTwoDigitsForEachByteAndReadsBack) {
  EXPECT_EQ(HexOf(""), "");
  EXPECT_EQ(HexOf(std::string("\x00\x7f\x80\xff", 4)), "007f80ff");
  for (const std::string& bytes : {std::string(), std::string("a\0\xfe", 3)}) {
    EXPECT_EQ(BytesOfHex(HexOf(bytes)), bytes);
  }
  for (const char* text : {"0", "0g", "FF", " 0", "0x", "+1"}) {
    EXPECT_EQ(BytesOfHex(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace platen
