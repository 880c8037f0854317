// Outputs from stored results, and their removal: platen export, platen clean.
#include <gtest/gtest.h>

#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

using testing::Contains;
using testing::Outputs;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;
using testing::SourcePath;

class ExportTest : public testing::OcrFixture {
 protected:
  ExportTest() {
    CopySample("pages/phototest.tif", "in/a.tif");
    CopySample("pages/in_russian_trenches_p27.png", "in/b.png");
    folder_.Write("in/broken.png", "no image");
  }

  ProgramResult Platen(std::vector<std::string> words) {
    return RunProgram(ProgramRun{std::move(words), "", {}, folder_.path(), {}});
  }
};

// The outputs, without what tells of runs.
std::map<std::string, std::string> Files(const std::string& folder) {
  auto files = Outputs(folder);
  files.erase("run.json");
  return files;
}

TEST_F(ExportTest, WritesWhatOcrWouldHaveWritten) {
  const std::vector<std::string> other = {"--format", "txt,md,json", "--keep", "headers",
                                          "--reflow"};
  EXPECT_EQ(Ocr({"in", "-o", "out", "--format", "txt"}).exit_code, 1);
  std::vector<std::string> words = {"export", "out"};
  words.insert(words.end(), other.begin(), other.end());
  const ProgramResult exported = Platen(words);
  EXPECT_EQ(exported.exit_code, 1) << "broken.png was never read";
  EXPECT_TRUE(Contains(exported.out, "2 documents (2 pages) exported: 6 files")) << exported.out;
  EXPECT_TRUE(Contains(exported.err, "broken.png: no stored results")) << exported.err;
  words = {"in", "-o", "whole"};
  words.insert(words.end(), other.begin(), other.end());
  EXPECT_EQ(Ocr(words).exit_code, 1);
  auto expected = Files(folder_ / "whole"), found = Files(folder_ / "out");
  for (const char* name : {"in/broken.png.txt", "in/broken.png.md", "in/broken.png.json"}) {
    expected.erase(name);
    found.erase(name);
  }
  EXPECT_EQ(found, expected);
  // What was exported is finished.
  words[2] = "out";
  Ocr(words);
  EXPECT_EQ(Report()["totals"]["documents_finished_before"], 2);
}

TEST_F(ExportTest, FormatsThatShowThePagesNeedTheUnchangedScan) {
  fs::remove(folder_ / "in/broken.png");
  const std::string all = "hocr,tsv,alto,page,html,pdf";
  EXPECT_EQ(Ocr({"in", "-o", "out", "--format", "txt"}).exit_code, 0);
  EXPECT_EQ(Platen({"export", "out", "--format", all}).exit_code, 0);
  EXPECT_EQ(Ocr({"in", "-o", "whole", "--format", "txt," + all}).exit_code, 0);
  EXPECT_EQ(Files(folder_ / "out"), Files(folder_ / "whole"));
  folder_.Write("in/b.png", "another file");
  fs::remove(folder_ / "in/a.tif");
  const ProgramResult refused = Platen({"export", "out", "--format", "pdf"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(Contains(refused.err, "b.png: is not the file that was read")) << refused.err;
  EXPECT_TRUE(Contains(refused.err, "a.tif: No such file")) << refused.err;
  EXPECT_TRUE(Contains(refused.err, "all other formats do without it")) << refused.err;
  EXPECT_EQ(Files(folder_ / "out"), Files(folder_ / "whole"));
  EXPECT_EQ(Platen({"export", "out", "--format", "hocr"}).exit_code, 0);
}

// Pictures of pages are made while they are read, later from what is stored, or by an export: on a
// page that lies on its side, a fax with oblong pixels, a PDF and documents of several pages.
TEST_F(ExportTest, PagesAreShownTheSameWhoeverShowsThem) {
  fs::remove_all(folder_ / "in");
  fs::create_directories(folder_ / "in");
  CopySample("synthetic/letter-200.jpg", "in/a.jpg");
  CopySample("pages/eurotext.tif", "in/b.tif");
  const auto shell = [&](const std::string& command) {
    return std::system(("cd '" + folder_.path() + "/in' && " + command).c_str());
  };
  fs::copy_file(SourcePath("tests/data/images/three_pages.tif"), folder_ / "in/c.tif");
  fs::copy_file(SourcePath("tests/data/pdf/tesseract.pdf"), folder_ / "in/d.pdf");
  ASSERT_EQ(shell("qpdf d.pdf --rotate=90 --pages d.pdf d.pdf -- e.pdf && "
                  "pdftoppm -r 150 -png e.pdf f"),
            0);
  std::string oblong = ReadFile(folder_ / "in/a.jpg");
  oblong.replace(13, 5, std::string("\1\0\xCC\0\x62", 5));  // 204 x 98 dpi
  folder_.Write("in/g.jpg", oblong);
  const std::vector<std::string> shown = {"--format", "html,pdf", "--text-layer", "ignore"};
  const auto words = [&](const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> all = {"in", "-o", out};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  ASSERT_EQ(Ocr(words("read", shown)).exit_code, 0);
  const auto expected = Files(folder_ / "read");
  EXPECT_EQ(expected.size(), 16U);
  std::vector<std::string> one = shown;
  one.insert(one.end(), {"-j", "1", "--slots", "1"});
  ASSERT_EQ(Ocr(words("one", one)).exit_code, 0);
  EXPECT_TRUE(Files(folder_ / "one") == expected);
  for (const char* out : {"stored", "exported"}) {
    ASSERT_EQ(Ocr(words(out, {"--format", "txt", "--text-layer", "ignore"})).exit_code, 0);
  }
  ASSERT_EQ(Ocr(words("stored", shown)).exit_code, 0);
  EXPECT_EQ(Report("stored")["totals"]["pages_read"], 0);
  ASSERT_EQ(Platen({"export", "exported", "--format", "html,pdf", "-j", "3"}).exit_code, 0);
  for (const char* out : {"stored", "exported"}) {
    auto found = Files(folder_ / out);
    std::erase_if(found, [](const auto& file) { return file.first.ends_with(".txt"); });
    EXPECT_TRUE(found == expected) << out;
    EXPECT_TRUE(fs::is_empty(folder_ / (std::string(out) + "/.platen/tmp")));
  }
}

// No success: the folder may be another one than was meant, or has lost its ledger.
TEST_F(ExportTest, WhereNothingIsRecordedThereIsNothingToExport) {
  EXPECT_EQ(Ocr({"in/a.tif", "-o", "out", "--format", "txt"}).exit_code, 0);
  for (const char* ledger : {"", "junk\n"}) {
    folder_.Write("out/.platen/ledger.jsonl", ledger);
    const ProgramResult result = Platen({"export", "out", "--format", "md"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(Contains(result.err, "out: no document that was read is recorded here"))
        << result.err;
  }
  const ProgramResult again = Ocr({"in/a.tif", "-o", "out", "--format", "txt"});
  EXPECT_TRUE(Contains(again.out, "1 taken from stored results")) << again.out;
  EXPECT_EQ(Platen({"export", "out", "--format", "md"}).exit_code, 0);
}

TEST_F(ExportTest, NoScanIsReplaced) {
  // A scan of that name beside the outputs of another: read when no format wanted its name.
  CopySample("pages/phototest.tif", "out/a");
  CopySample("pages/phototest.tif", "out/a.p0007.alto.xml");
  CopySample("pages/phototest.tif", "out/a.html");
  EXPECT_EQ(Ocr({"out/a", "out/a.p0007.alto.xml", "out/a.html", "-o", "out", "--format", "txt"})
                .exit_code,
            0);
  const auto before = Outputs(folder_ / "out");
  for (const char* format : {"alto", "html"}) {
    const ProgramResult refused = Platen({"export", "out", "--format", format});
    EXPECT_EQ(refused.exit_code, 2) << refused.err;
    EXPECT_TRUE(Contains(refused.err, "would be replaced by the output of out/a")) << refused.err;
  }
  EXPECT_EQ(Outputs(folder_ / "out"), before);
  EXPECT_EQ(Platen({"export", "out", "--format", "hocr"}).exit_code, 0);
}

TEST_F(ExportTest, CleanRemovesResultsAndNothingElse) {
  Ocr({"in", "-o", "out", "--format", "txt"});
  const auto before = Outputs(folder_ / "out");
  EXPECT_TRUE(
      Contains(Platen({"clean", "out", "--older-than", "1h"}).out, "0 stored results removed"));
  EXPECT_TRUE(
      Contains(Platen({"clean", "out", "--dry-run"}).out, "2 stored results would be removed"));
  EXPECT_TRUE(Contains(Platen({"clean", "out"}).out, "2 stored results removed"));
  EXPECT_EQ(Outputs(folder_ / "out"), before);
  EXPECT_EQ(Platen({"export", "out", "--format", "md"}).exit_code, 1);
  EXPECT_EQ(Ocr({"in", "-o", "out", "--format", "txt"}).exit_code, 1);
  EXPECT_EQ(Report()["totals"]["documents_finished_before"], 2);
  Ocr({"in", "-o", "out", "--format", "md"});
  EXPECT_EQ(Report()["totals"]["pages_read"], 2);
}

TEST_F(ExportTest, CleanRemovesResultsOfATimeToCome) {
  Ocr({"in", "-o", "out", "--format", "txt"});
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "out/.platen/results")) {
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() + std::chrono::hours(9999));
  }
  EXPECT_TRUE(
      Contains(Platen({"clean", "out", "--older-than", "1h"}).out, "0 stored results removed"));
  EXPECT_TRUE(Contains(Platen({"clean", "out"}).out, "2 stored results removed"));
}

TEST_F(ExportTest, CleanKnowsWhatIsSuperseded) {
  fs::remove(folder_ / "in/broken.png");
  Ocr({"in", "-o", "out", "--format", "txt", "--max-pages", "1"});
  EXPECT_TRUE(Contains(Platen({"clean", "out", "--superseded"}).out, "0 stored results removed"));
  Ocr({"in", "-o", "out", "--format", "txt"});
  Ocr({"in", "-o", "out", "--format", "txt", "--text-height", "40"});  // read anew
  fs::remove(folder_ / "in/b.png");
  CopySample("synthetic/receipt-200.png", "in/b.png");
  Ocr({"in", "-o", "out", "--format", "txt", "--text-height", "40"});  // another b.png
  EXPECT_TRUE(Contains(Platen({"clean", "out", "--superseded"}).out, "3 stored results removed"));
  EXPECT_EQ(Platen({"export", "out", "--format", "md"}).exit_code, 0);
  EXPECT_TRUE(Contains(Platen({"clean", "out", "--at-most", "1G"}).out, "0 stored"));
  EXPECT_TRUE(
      Contains(Platen({"clean", "out", "--at-most", "1K"}).out, "2 stored results removed"));
}

TEST_F(ExportTest, WhatCannotBeMeantIsRefused) {
  const std::vector<std::vector<std::string>> wrong = {{"export"},
                                                       {"export", "nowhere"},
                                                       {"export", "in"},
                                                       {"clean", "in"},
                                                       {"clean"},
                                                       {"export", "in", "in"},
                                                       {"export", "out", "--format", "doc"},
                                                       {"clean", "out", "--older-than", "soon"},
                                                       {"clean", "out", "--older-than", "-3d"},
                                                       {"clean", "out", "--older-than", "3"},
                                                       {"clean", "out", "--at-most", "much"},
                                                       {"clean", "out", "--at-most", "-1"}};
  Ocr({"in", "-o", "out", "--format", "txt"});
  for (const auto& words : wrong) EXPECT_EQ(Platen(words).exit_code, 2) << words.back();
  EXPECT_FALSE(Exists("in/.platen"));
}

}  // namespace
}  // namespace platen
