#include "model/support/grouped.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

TEST(SizeText, HasAboutThreeDigits) {
  EXPECT_EQ(SizeText(0), "0 bytes");
  EXPECT_EQ(SizeText(1), "1 byte");
  EXPECT_EQ(SizeText(1023), "1,023 bytes");
  EXPECT_EQ(SizeText(1024), "1.0 KiB");
  EXPECT_EQ(SizeText(80 << 10), "80 KiB");
  EXPECT_EQ(SizeText((3 << 20) + (200 << 10)), "3.1 MiB");
  EXPECT_EQ(SizeText(int64_t{1500} << 20), "1.4 GiB");
  EXPECT_EQ(SizeText(int64_t{1023} << 20), "1,023 MiB");
}

TEST(Counted, HasAPlural) {
  EXPECT_EQ(Counted(1, "page"), "1 page");
  EXPECT_EQ(Counted(1490, "page"), "1,490 pages");
}

}  // namespace
}  // namespace platen
