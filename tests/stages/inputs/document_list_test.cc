// A list gives back what it was given.
#include "stages/inputs/document_list.h"

#include <gtest/gtest.h>

#include <random>

namespace platen {
namespace {

void ExpectSame(const InputDocument& a, const InputDocument& b) {
  EXPECT_EQ(a.path, b.path);
  EXPECT_EQ(a.output, b.output);
  EXPECT_EQ(a.error.text, b.error.text);
  EXPECT_EQ(a.error.code, b.error.code);
  EXPECT_EQ(a.name, b.name);
}

// Any bytes: a name of a list may have them, and none is an end.
std::string RandomName(std::mt19937& random) {
  std::string name(std::uniform_int_distribution<size_t>(0, 40)(random), ' ');
  for (char& c : name) c = static_cast<char>(std::uniform_int_distribution<int>(0, 255)(random));
  return name;
}

TEST(DocumentListTest, GivesBackWhatAVectorWould) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::vector<InputDocument> plain;
  DocumentList list;
  EXPECT_TRUE(list.empty());
  for (int i = 0; i < 1000; ++i) {
    InputDocument document;
    document.path = RandomName(random);
    document.output = RandomName(random);
    if (random() % 5 == 0) document.error = {RandomName(random) + "!", FailureCode::kNotFound};
    if (random() % 5 == 0) document.name = RandomName(random);
    plain.push_back(document);
    list.Add(document);
  }
  ASSERT_EQ(list.size(), plain.size());
  EXPECT_FALSE(list.empty());
  ExpectSame(list.front(), plain.front());
  for (size_t i = plain.size(); i-- > 0;) ExpectSame(list[i], plain[i]);
  size_t next = 0;
  for (const InputDocument& document : list) ExpectSame(document, plain.at(next++));
  EXPECT_EQ(next, plain.size());
}

}  // namespace
}  // namespace platen
