#include "model/hub/model_name.h"

#include <gtest/gtest.h>

#include <string>

namespace platen {
namespace {

TEST(ParseModelName, TellsOwnerNameAndRevision) {
  const auto plain = ParseModelName("zai-org/GLM-OCR");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->owner, "zai-org");
  EXPECT_EQ(plain->name, "GLM-OCR");
  EXPECT_EQ(plain->revision, "main");
  EXPECT_EQ(plain->Text(), "zai-org/GLM-OCR");
  const auto at = ParseModelName("PaddlePaddle/PP-DocLayoutV3_safetensors@refs/pr/1");
  ASSERT_TRUE(at);
  EXPECT_EQ(at->revision, "refs/pr/1");
  EXPECT_EQ(at->Repository(), "PaddlePaddle/PP-DocLayoutV3_safetensors");
  EXPECT_EQ(at->Text(), "PaddlePaddle/PP-DocLayoutV3_safetensors@refs/pr/1");
}

TEST(ParseModelName, RefusesWhatCouldLeaveAFolder) {
  for (const std::string text : {"",
                                 "name",
                                 "/name",
                                 "owner/",
                                 "../name",
                                 "owner/..",
                                 "a/b/c",
                                 "/etc/passwd",
                                 "./model",
                                 "owner/na me",
                                 "owner/na\nme",
                                 "owner/na%2fme",
                                 "ow--ner/name",
                                 "owner/a..b",
                                 "owner/.name",
                                 "owner/name.",
                                 "-owner/name",
                                 "owner/name-",
                                 "owner\\name",
                                 "o/n@",
                                 "o/n@../x",
                                 "o/n@/x",
                                 "o/n@a//b",
                                 "o/n@a/",
                                 "o/n@.hidden",
                                 "o/n@a..b",
                                 "o/n@-x",
                                 "o/n@a b",
                                 "o/n@x@y"}) {
    EXPECT_FALSE(ParseModelName(text)) << text;
  }
  EXPECT_TRUE(ParseModelName("o/" + std::string(94, 'n')));
  EXPECT_FALSE(ParseModelName("o/" + std::string(95, 'n')));
  EXPECT_TRUE(IsRevision(std::string(200, 'r')));
  EXPECT_FALSE(IsRevision(std::string(201, 'r')));
}

TEST(IsCommit, IsFortyLowerCaseHexadecimalDigits) {
  EXPECT_TRUE(IsCommit("0123456789abcdef0123456789abcdef01234567"));
  EXPECT_FALSE(IsCommit("0123456789ABCDEF0123456789abcdef01234567"));
  EXPECT_FALSE(IsCommit("0123456789abcdef0123456789abcdef0123456"));
  EXPECT_FALSE(IsCommit("0123456789abcdef0123456789abcdef0123456g"));
}

}  // namespace
}  // namespace platen
