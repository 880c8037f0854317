// Formats for archives, as the program writes them.
#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

using testing::Contains;
using testing::Outputs;
using testing::ReadFile;
using testing::SourcePath;

class OutputFormats : public testing::OcrFixture {};

TEST_F(OutputFormats, AreWrittenBesideEachOtherAndAccepted) {
  CopySample("synthetic/invoice-150.png", "in/invoice.png");
  CopySample("pages/phototest.tif", "in/page.tif");
  const auto result = Ocr({"in", "-o", "out", "--format", "hocr,tsv,alto,page,html,pdf"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* name :
       {"invoice.png.hocr", "invoice.png.tsv", "invoice.png.alto.xml", "invoice.png.page.xml",
        "invoice.png.pdf", "page.tif.html", "page.tif.hocr"}) {
    EXPECT_TRUE(Exists(std::string("out/in/") + name)) << name;
  }
  EXPECT_FALSE(Exists("out/in/invoice.png.txt"));
  EXPECT_TRUE(Contains(ReadFile(folder_ / "out/in/page.tif.hocr"), "class=\"ocrx_word\""));
  const auto first = Outputs(folder_ / "out");
  EXPECT_EQ(
      Ocr({"in", "-o", "out", "--format", "hocr,tsv,alto,page,html,pdf", "--force", "-j", "1"})
          .exit_code,
      0);
  EXPECT_EQ(Outputs(folder_ / "out"), first);
  if (std::system("command -v python3 >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  const std::string tool = "python3 '" + SourcePath("tools/eval/validate_formats.py") + "' '";
  EXPECT_EQ(std::system((tool + (folder_ / "out") + "'").c_str()), 0);
}

TEST_F(OutputFormats, TheSummaryNamesEachOnce) {
  CopySample("pages/phototest.tif", "page.tif");
  const auto result = Ocr({"page.tif", "-o", "out", "--format", "alto,tsv"});
  EXPECT_TRUE(Contains(result.out + result.err, "page.tif.alto.xml (and .tsv)"))
      << result.out << result.err;
}

TEST_F(OutputFormats, ThatAreNotKnownAreNamed) {
  CopySample("pages/phototest.tif", "page.tif");
  const auto result = Ocr({"page.tif", "-o", "out", "--format", "txt,docx"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(Contains(result.err, "docx") && Contains(result.err, "hocr")) << result.err;
}

}  // namespace
}  // namespace platen
