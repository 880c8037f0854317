// Inputs that are called like outputs: refused before anything is read.
#include "stages/inputs/output_clashes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "model/support/error.h"
#include "stages/formats/document_writer.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

const std::string kPng = "\x89PNG\r\n\x1a\n";
const std::vector<std::string> kUsual = {"txt", "md", "json"};

// Inputs are below s/, named one by one; outputs go to out/, or to s/ itself.
class OutputClashesTest : public ::testing::Test {
 protected:
  void Write(const std::vector<std::string>& names) {
    for (const std::string& name : names) folder_.Write("s/" + name, kPng);
  }

  // The message of the Error(kUsage); empty: it was not refused.
  std::string Refusal(const std::vector<std::string>& names,
                      const std::vector<std::string>& formats, const std::string& out = "out",
                      const std::function<bool(const std::string&)>& wanted = {}) {
    InputSpec spec;
    for (const std::string& name : names) spec.arguments.push_back(folder_ / ("s/" + name));
    spec.input_root = folder_ / "s";
    spec.output_dir = folder_ / out;
    spec.formats = formats;
    spec.wanted = wanted;
    try {
      DiscoverDocuments(spec);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kUsage) << e.what();
      return e.what();
    }
    return "";
  }

  static bool Has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  platen::testing::TempFolder folder_;
};

TEST_F(OutputClashesTest, OutputsOfEveryFormatBesideTheInputsReplaceNone) {
  for (const std::string& format : KnownFormats()) {
    for (const int of_pages : {1, 20}) {
      const std::string taken = "a.tif." + OutputSuffix(format, 7, of_pages);
      SCOPED_TRACE(taken);
      Write({"a.tif", taken});
      EXPECT_TRUE(Has(Refusal({"a.tif", taken}, {format}, "s"),
                      taken + ": would be replaced by the output of"));
      EXPECT_EQ(Refusal({"a.tif", taken}, {format == "md" ? "txt" : "md"}, "s"), "");
      EXPECT_EQ(Refusal({"a.tif"}, {format}, "s"), "") << "an output of an earlier run";
      fs::remove(folder_ / ("s/" + taken));
    }
  }
}

TEST_F(OutputClashesTest, NamesOfPagesAreThoseThatPagesCanHave) {
  for (const char* name : {"a.p7.alto.xml", "a.p00007.alto.xml", "a.p0007.alto.xml.png",
                           "p0007.alto.xml", ".p0007.alto.xml", "b.p0007.alto.xml", "a.alto"}) {
    Write({"a", name});
    EXPECT_EQ(Refusal({"a", name}, {"alto"}, "s"), "") << name;
  }
  Write({"a.p12345.alto.xml", "sub/a.p0007.alto.xml"});
  EXPECT_NE(Refusal({"a", "a.p12345.alto.xml"}, {"alto"}, "s"), "");
  EXPECT_EQ(Refusal({"a", "sub/a.p0007.alto.xml"}, {"alto"}, "s"), "") << "in another folder";
}

TEST_F(OutputClashesTest, AnotherFolderTakesInputsOfAnyName) {
  Write({"a.tif", "a.tif.json", "a.tif.p0007.alto.xml", "x", "x.txt"});
  EXPECT_EQ(Refusal({"a.tif", "a.tif.json", "a.tif.p0007.alto.xml", "x", "x.txt"}, KnownFormats()),
            "");
}

TEST_F(OutputClashesTest, TwoDocumentsThatMayWriteOneFileAreRefused) {
  Write({"a.tif", "a.tif.p0002", "b"});
  const std::string refusal = Refusal({"a.tif", "a.tif.p0002"}, {"txt", "page"});
  EXPECT_TRUE(Has(refusal, "s/a.tif and ") && Has(refusal, "s/a.tif.p0002 may both write") &&
              Has(refusal, "out/a.tif.p0002.page.xml"))
      << refusal;
  EXPECT_EQ(Refusal({"a.tif", "a.tif.p0002"}, kUsual), "");
  EXPECT_EQ(Refusal({"b", "a.tif.p0002"}, {"page"}), "");
  // One of them is for another shard.
  for (const char* own : {"a.tif", "a.tif.p0002"}) {
    const bool knows = own == std::string("a.tif");
    EXPECT_EQ(Refusal({"a.tif", "a.tif.p0002"}, {"page"}, "out",
                      [&](const std::string& output) { return output == own; })
                  .empty(),
              !knows);
  }
}

TEST_F(OutputClashesTest, AFileWhereAFolderMustBeIsRefused) {
  Write({"a", "a.txt/b/c.png", "a.p0003.alto.xml/d"});
  EXPECT_TRUE(Has(Refusal({"a", "a.txt"}, kUsual), "s/a: would write the file"));
  EXPECT_EQ(Refusal({"a", "a.txt"}, {"md"}), "");
  EXPECT_NE(Refusal({"a", "a.p0003.alto.xml"}, {"alto"}), "");
  EXPECT_EQ(Refusal({"a.txt", "a.p0003.alto.xml"}, KnownFormats()), "");
}

TEST_F(OutputClashesTest, ReportsReplaceNoInput) {
  for (const char* name : {"run.json", "failures.jsonl"}) {
    Write({name, "a"});
    EXPECT_TRUE(Has(Refusal({name}, {"txt"}, "s"), "would be replaced by the report")) << name;
    EXPECT_EQ(Refusal({name}, {"txt"}), "");
    EXPECT_EQ(Refusal({"a"}, {"txt"}, "s"), "") << "the report of an earlier run";
  }
}

TEST_F(OutputClashesTest, LinksLeadToTheFileThatTheyName) {
  Write({"a.tif", "scan"});
  fs::create_symlink("scan", folder_ / "s/a.tif.p0001.page.xml");
  EXPECT_NE(Refusal({"a.tif", "a.tif.p0001.page.xml"}, {"page"}, "s"), "");
}

}  // namespace
}  // namespace platen
