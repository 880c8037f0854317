#include "model/hub/repository_files.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "model/support/error.h"

namespace platen {
namespace {

using Json = nlohmann::json;

const std::string kSha1(40, 'a');
const std::string kSha256(64, 'b');

Json Plain(const std::string& path) {
  return {{"type", "file"}, {"path", path}, {"size", 12}, {"oid", kSha1}};
}

Json Large(const std::string& path) {
  Json entry = Plain(path);
  entry["size"] = 3'000'000'000;
  entry["lfs"] = {{"oid", kSha256}, {"size", 3'000'000'000}, {"pointerSize", 135}};
  return entry;
}

// A page with one entry; braces alone would make a copy of it.
Json PageOf(const Json& entry) { return Json::array({entry}); }

std::vector<HubFile> Parse(const Json& page) { return ParseTreePage(page.dump(), "hub"); }

bool Refused(const Json& page) {
  try {
    Parse(page);
    return false;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kModel);
    return true;
  }
}

TEST(ParseTreePage, GivesSizeAndChecksumOfFilesAndLeavesFoldersOut) {
  Json folder = {{"type", "directory"}, {"path", "sub"}, {"size", 0}, {"oid", kSha1}};
  const auto files =
      Parse(Json::array({Plain("sub/config.json"), folder, Large("model.safetensors")}));
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].path, "sub/config.json");
  EXPECT_EQ(files[0].size, 12);
  EXPECT_EQ(files[0].digest, kSha1);
  EXPECT_FALSE(files[0].is_large);
  EXPECT_EQ(files[1].size, 3'000'000'000);
  EXPECT_EQ(files[1].digest, kSha256);
  EXPECT_TRUE(files[1].is_large);
}

TEST(ParseTreePage, RefusesPathsThatAreNotPlainlyBelowTheRepository) {
  for (const std::string path : {"", "/etc/passwd", "../x", "a/../../x", "a/..", "./x", "a//b",
                                 "a/", "a\\b", "a\nb", "a\x7f", "\x1b[2J"}) {
    EXPECT_TRUE(Refused(PageOf(Plain(path)))) << path;
  }
  EXPECT_FALSE(Refused(PageOf(Plain("a..b/c.d"))));
  EXPECT_TRUE(Refused(PageOf(Plain(std::string(201, 'x')))));
  std::string deep = "a";
  while (deep.size() <= 1024) deep += "/a";
  EXPECT_TRUE(Refused(PageOf(Plain(deep))));
}

TEST(ParseTreePage, RefusesWhatCannotBeTrue) {
  const auto with = [](Json entry, const std::string& key, const Json& value) {
    entry[key] = value;
    return PageOf(entry);
  };
  EXPECT_TRUE(Refused(with(Plain("x"), "size", -1)));
  EXPECT_TRUE(Refused(with(Plain("x"), "size", 1e300)));
  EXPECT_TRUE(Refused(with(Plain("x"), "size", "12")));
  EXPECT_TRUE(Refused(with(Plain("x"), "size", kMaxHubFileBytes + 1)));
  EXPECT_TRUE(Refused(with(Plain("x"), "oid", "../../../x")));
  EXPECT_TRUE(Refused(with(Plain("x"), "oid", kSha256)));  // of a small file: git's
  EXPECT_TRUE(Refused(with(Large("x"), "lfs", Json{{"oid", kSha1}, {"size", 1}})));
  EXPECT_TRUE(Refused(with(Large("x"), "lfs", Json{{"oid", kSha256}})));
  EXPECT_TRUE(Refused(with(Large("x"), "lfs", 7)));
  EXPECT_TRUE(Refused(Json::object()));
  EXPECT_TRUE(Refused(PageOf(7)));
  EXPECT_THROW(ParseTreePage("[", "hub"), Error);
  EXPECT_TRUE(Refused(Json::array_t(kMaxHubFiles + 1, Plain("x"))));
}

TEST(ParseCommit, NeedsFortyDigits) {
  EXPECT_EQ(ParseCommit(Json{{"sha", kSha1}, {"id", "o/n"}}.dump(), "hub"), kSha1);
  EXPECT_THROW(ParseCommit(R"({"id": "o/n"})", "hub"), Error);
  EXPECT_THROW(ParseCommit(R"({"sha": "../../x"})", "hub"), Error);
  EXPECT_THROW(ParseCommit(R"({"sha": null})", "hub"), Error);
}

TEST(NextPage, IsTheUrlOfTheRelationNext) {
  EXPECT_EQ(NextPage("<https://h/a?cursor=x%3D>; rel=\"next\""), "https://h/a?cursor=x%3D");
  EXPECT_EQ(NextPage("<https://h/1>; rel=\"first\", <https://h/2>; rel=\"next\""), "https://h/2");
  EXPECT_FALSE(NextPage("<https://h/1>; rel=\"prev\""));
  for (const std::string broken : {"", "<", ">", "><", "rel=\"next\"", "<https://h rel=\"next\""}) {
    EXPECT_FALSE(NextPage(broken)) << broken;
  }
}

TEST(IsSnapshotFile, TakesWhatAModelIsRunWith) {
  for (const std::string path :
       {"config.json", "tokenizer.json", "preprocessor_config.json", "model.safetensors",
        "model-00001-of-00002.safetensors", "model.safetensors.index.json", "chat_template.jinja",
        "generation_config.json"}) {
    EXPECT_TRUE(IsSnapshotFile(path)) << path;
  }
  for (const std::string path : {"README.md", ".gitattributes", "model.gguf", "pytorch_model.bin",
                                 "onnx/config.json", "sub/model.safetensors", "image.png"}) {
    EXPECT_FALSE(IsSnapshotFile(path)) << path;
  }
}

}  // namespace
}  // namespace platen
