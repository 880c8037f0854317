// What the text of a region says about its kind.
#include "stages/kinds/text_clues.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

TEST(TextClues, PartsOfADocument) {
  for (const char* text : {"Introduction", "CONCLUSIONS", "2.3 Earlier work", "1. Scope",
                           "Chapter 4", "Results and discussion", "3) Terms"}) {
    EXPECT_TRUE(BeginsSection(text)) << text;
  }
  for (const char* text :
       {"On Delivery", "Indexing Engines", "Resultless", "1984", "12", "", "100. anniversary"}) {
    EXPECT_FALSE(BeginsSection(text)) << text;
  }
}

TEST(TextClues, PageNumbers) {
  for (const char* text : {"12", "- 12 -", "xiv", "Page 3 of 10", "3/10"}) {
    EXPECT_TRUE(IsPageNumber(text)) << text;
  }
  for (const char* text : {"", "twelve", "1,234,567,890", "Page"}) {
    EXPECT_FALSE(IsPageNumber(text)) << text;
  }
}

}  // namespace
}  // namespace platen
