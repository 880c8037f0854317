// Bytes from outside as people see them.
#include "model/support/display_text.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

TEST(DisplayNameTest, NamesStayDistinctAndReadable) {
  EXPECT_EQ(DisplayName("scans/Grüße 1.tif"), "scans/Grüße 1.tif");
  EXPECT_EQ(DisplayName("a\xE9.tif"), "a\\xe9.tif");
  EXPECT_EQ(DisplayName("a\\xe9.tif"), "a\\\\xe9.tif");
  EXPECT_EQ(DisplayName("line\nbreak"), "line\\x0abreak");
  EXPECT_EQ(DisplayName("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // a surrogate is not UTF-8
}

TEST(DisplayNameTest, CanBeReadBack) {
  for (const std::string name : {"a", "Grüße 1.tif", "a\xE9.tif", "a\\xe9.tif", "line\nbreak", "",
                                 "\xED\xA0\x80", "\\", "x\\\\y"}) {
    EXPECT_EQ(NameFromDisplay(DisplayName(name)), name);
  }
  for (const char* none : {"\\", "\\x", "\\x0", "\\xzz", "\\x41", "\\n", "a\xE9", "line\nbreak"}) {
    EXPECT_FALSE(NameFromDisplay(none)) << none;
  }
}

TEST(PrintableTest, WhatATerminalWouldObeyIsShown) {
  EXPECT_EQ(Printable("Grüße\nand a \\"), "Grüße\nand a \\");
  EXPECT_EQ(Printable("\033[31m\t\x7F"), "\\x1b[31m\\x09\\x7f");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "1m \xC2\xA0"),
            "\\xc2\\x9b1m \xC2\xA0");
  EXPECT_EQ(Printable("\xE4\xB8"), "\\xe4\\xb8");
}

TEST(QuotedTextTest, IsOneLine) {
  EXPECT_EQ(QuotedText("a \"b\" \\ ü\n\x01"), "\"a \\\"b\\\" \\\\ ü\\n\\x01\"");
  EXPECT_EQ(QuotedText(""), "\"\"");
}

}  // namespace
}  // namespace platen
