// What `platen inspect` reports.
#include "model/families/inspect.h"

#include <gtest/gtest.h>

#include "tests/support/npy.h"
#include "tests/support/snapshot_edits.h"

namespace platen {
namespace {

using nlohmann::json;
using testing::ApplyEdit;
using testing::CopySnapshot;
using testing::SourcePath;
using testing::TempFolder;

const TensorGroup& Group(const InspectReport& report, const std::string& name) {
  for (const TensorGroup& group : report.groups) {
    if (group.name == name) return group;
  }
  throw std::runtime_error("no group " + name);
}

TEST(InspectSnapshot, CountsTensorsAndParametersByGroup) {
  const InspectReport report = InspectSnapshot(SourcePath("tests/golden/snapshots/tiny-a"));
  EXPECT_TRUE(report.usable());
  EXPECT_EQ(Group(report, "embedding").parameters, 912 * 48);
  EXPECT_EQ(Group(report, "head").bytes, 912 * 48 * 2);
  EXPECT_EQ(Group(report, "decoder").count, 3 * 10 + 1);
  EXPECT_EQ(Group(report, "mtp").count, 16);
  EXPECT_EQ(Group(report, "vision").count, 2 + 2 * 14 + 1);
  EXPECT_EQ(Group(report, "merger").count, 8);
  const TensorFamily& norms = Group(report, "decoder").families.front();
  EXPECT_EQ(norms.name, "model.language_model.layers.*.input_layernorm.weight");
  EXPECT_EQ(norms.count, 3);
  EXPECT_EQ(norms.shape, std::vector<int64_t>{48});
  EXPECT_EQ(Group(report, "mtp").families.front().name,
            "model.language_model.layers.3.input_layernorm.weight");
}

TEST(InspectSnapshot, ComparesTheDraftHeadsCopies) {
  const auto copies = [](const std::string& name) {
    const InspectReport report = InspectSnapshot(SourcePath("tests/golden/snapshots/" + name));
    return std::pair(report.embedding_copy, report.head_copy);
  };
  EXPECT_EQ(copies("tiny-a"), std::pair(StoredCopy::kEqual, StoredCopy::kEqual));
  EXPECT_EQ(copies("tiny-c"), std::pair(StoredCopy::kDifferent, StoredCopy::kDifferent));
}

TEST(InspectSnapshot, SaysWhichHeadIsUsedIfConfigAndCheckpointDisagree) {
  const TempFolder folder;
  CopySnapshot(SourcePath("tests/golden/snapshots/tiny-a"), folder);
  ApplyEdit({{"op", "json_set"},
             {"file", "config.json"},
             {"path", {"tie_word_embeddings"}},
             {"value", true}},
            folder);
  const InspectReport report = InspectSnapshot(folder.path());
  EXPECT_TRUE(report.usable());
  EXPECT_EQ(Group(report, "head").count, 1);
  EXPECT_EQ(report.head_copy, StoredCopy::kEqual);  // the draft head's, to the head that is used
  const std::string text = FormatInspectReport(report);
  EXPECT_NE(text.find("head                 its own table"), std::string::npos) << text;
  EXPECT_NE(text.find("note: config.json says tie_word_embeddings"), std::string::npos) << text;
  EXPECT_EQ(json::parse(InspectReportJson(report))["config"]["text"]["tied_head"], false);
}

TEST(InspectSnapshot, ListsEveryProblemNotOnlyTheFirst) {
  const TempFolder folder;
  CopySnapshot(SourcePath("tests/golden/snapshots/tiny-a"), folder);
  const std::string norm = "model.language_model.norm.weight";
  const std::string q0 = "model.language_model.layers.0.self_attn.q_proj.weight";
  const std::string copy = "model.language_model.layers.3.embed_tokens.weight";
  ApplyEdit({{"op", "drop_tensor"}, {"tensor", norm}}, folder);
  ApplyEdit({{"op", "header_reverse_shape"}, {"tensor", q0}}, folder);
  ApplyEdit({{"op", "header_rename"}, {"tensor", copy}, {"to", "surprise"}}, folder);
  ApplyEdit(
      {{"op", "set_tensor_bytes"}, {"tensor", "lm_head.weight"}, {"offset", 6}, {"hex", "c07f"}},
      folder);
  ApplyEdit(
      {{"op", "json_set"}, {"file", "tokenizer.json"}, {"path", {"pre_tokenizer"}}, {"value", 1}},
      folder);
  const InspectReport report = InspectSnapshot(folder.path());
  EXPECT_FALSE(report.usable());
  ASSERT_EQ(report.missing.size(), 1U);
  EXPECT_EQ(report.missing[0].location().field, norm);
  ASSERT_EQ(report.mismatched.size(), 1U);
  EXPECT_EQ(report.mismatched[0].location().field, q0);
  EXPECT_EQ(report.unexpected, std::vector<std::string>{"surprise"});
  EXPECT_FALSE(report.tokenizer);
  ASSERT_EQ(report.problems.size(), 4U);  // tokenizer, missing, mismatched, NaN
  EXPECT_EQ(report.problems[3].location().field, "lm_head.weight");

  const std::string text = FormatInspectReport(report);
  for (const std::string& name :
       {norm, q0, std::string("surprise"), std::string("lm_head.weight")}) {
    EXPECT_NE(text.find(name), std::string::npos) << name;
  }
  EXPECT_NE(text.find("NOT usable: 4 problems"), std::string::npos);
  const json parsed = json::parse(InspectReportJson(report));
  EXPECT_EQ(parsed["usable"], false);
  EXPECT_EQ(parsed["problems"].size(), 4U);
  EXPECT_EQ(parsed["missing"][0]["field"], norm);
}

TEST(InspectSnapshot, SaysInOneLineWhatIsNoSnapshot) {
  const TempFolder folder;
  const InspectReport report = InspectSnapshot(folder.path());
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(FormatInspectReport(report), folder.path() + ": an empty folder\n");
  const json parsed = json::parse(InspectReportJson(report));
  EXPECT_FALSE(parsed.contains("config"));
  EXPECT_EQ(parsed["usable"], false);
  EXPECT_EQ(parsed["what"], "an empty folder");
}

TEST(InspectSnapshot, ReportsEveryFileThatASnapshotLacks) {
  const TempFolder folder;
  folder.Write("platen.json", "{}");
  const InspectReport report = InspectSnapshot(folder.path());
  EXPECT_EQ(report.problems.size(), 3U);  // config, tokenizer, checkpoint
  EXPECT_TRUE(FormatInspectReport(report).starts_with(folder.path() +
                                                      ": model snapshot without config.json\n"
                                                      "problem: "));
}

TEST(FormatInspectReport, BeginsWithWhatTheFolderIsAndItsProblems) {
  const TempFolder folder;
  CopySnapshot(SourcePath("tests/golden/snapshots/tiny-a"), folder);
  const std::string first = folder.path() + ": model snapshot, architecture GLM-OCR\n";
  EXPECT_TRUE(FormatInspectReport(InspectSnapshot(folder.path())).starts_with(first));
  ApplyEdit({{"op", "drop_tensor"}, {"tensor", "model.language_model.norm.weight"}}, folder);
  const std::string text = FormatInspectReport(InspectSnapshot(folder.path()));
  EXPECT_TRUE(text.starts_with(first + "problem: ")) << text;
  EXPECT_EQ(text.find("problem: "), text.rfind("problem: "));
}

TEST(InspectSnapshot, NamesLineAndColumnOfABrokenConfiguration) {
  const TempFolder folder;
  folder.Write("config.json", "{\n \"a\": }");
  const InspectReport report = InspectSnapshot(folder.path());
  EXPECT_NE(FormatInspectReport(report).find("config.json, line 2, column 7: not valid JSON"),
            std::string::npos);
  const json problem = json::parse(InspectReportJson(report))["problems"][0];
  EXPECT_EQ(problem["line"], 2);
  EXPECT_EQ(problem["column"], 7);
}

TEST(FormatInspectReport, EndsWithTheVerdict) {
  const InspectReport report = InspectSnapshot(SourcePath("assets/platen-mini"));
  const std::string text = FormatInspectReport(report);
  EXPECT_TRUE(text.ends_with("usable: no problems found\n"));
  EXPECT_NE(text.find("granularity          line"), std::string::npos);
  EXPECT_EQ(json::parse(InspectReportJson(report))["config"]["text"]["layers"], 4);
}

}  // namespace
}  // namespace platen
