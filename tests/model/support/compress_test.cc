#include "model/support/compress.h"

#include <gtest/gtest.h>

#include <string>

namespace platen {
namespace {

constexpr size_t kMany = 1 << 20;

TEST(Compress, AndBack) {
  for (const std::string& bytes :
       {std::string(), std::string("a\0b", 3), std::string(100'000, 'x')})
    EXPECT_EQ(Decompress(Compress(bytes), kMany), bytes);
  EXPECT_LT(Compress(std::string(100'000, 'x')).size(), 1000u);
}

TEST(Compress, WhatIsTooLongOrDamagedIsNothing) {
  const std::string whole = Compress(std::string(1000, 'x') + "y");
  EXPECT_FALSE(Decompress(whole, 1000));
  EXPECT_TRUE(Decompress(whole, 1001));
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    EXPECT_FALSE(Decompress(whole.substr(0, cut), kMany)) << cut;
  }
  EXPECT_FALSE(Decompress("no frame at all", kMany));
}

}  // namespace
}  // namespace platen
