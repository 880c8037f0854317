#include "model/support/digest.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

// FIPS 180-4, appendix B, and the sum of nothing.
TEST(Sha256, IsTheStandards) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, DoesNotDependOnTheParts) {
  Digest sha(Digest::Kind::kSha256);
  sha.Add("a");
  sha.Add("");
  sha.Add("bc");
  EXPECT_EQ(sha.Hex(), Sha256Hex("abc"));
}

}  // namespace
}  // namespace platen
