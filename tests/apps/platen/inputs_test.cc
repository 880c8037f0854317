// What platen ocr takes for its input, what it refuses, and what it calls its outputs.
#include <sys/stat.h>

#include <algorithm>

#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::Contains;
using testing::Outputs;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;
using testing::SourcePath;

constexpr char kHeif[] = "\0\0\0\fftypheic and so on";

class InputsTest : public testing::OcrFixture {
 protected:
  std::string Page() { return ReadFile(SourcePath("assets/samples/pages/phototest.tif")); }
};

// ---------------------------------------------------------------------------- standard streams

TEST_F(InputsTest, ThePageOfASingleDocumentIsPrinted) {
  CopySample("pages/phototest.tif", "a.tif");
  const std::string temporary = folder_ / "tmp";
  fs::create_directory(temporary);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"a.tif"}, {"a.tif", "-o", "-"}, {"a.tif", "-o", "/dev/stdout"}}) {
    const ProgramResult result = Ocr(words, "", {"TMPDIR=" + temporary});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out.find("This is a lot of 12 point text"), 0U) << result.out;
    EXPECT_EQ(result.err, "");
  }
  EXPECT_TRUE(Json::parse(Ocr({"a.tif", "--format", "json"}).out).is_object());
  EXPECT_EQ(Ocr({"a.tif", "--format", "txt,md"}).exit_code, 2);
  EXPECT_TRUE(fs::is_empty(temporary));
  EXPECT_FALSE(Exists("-"));
}

TEST_F(InputsTest, SeveralDocumentsAreOnlyPrintedWhenAsked) {
  CopySample("pages/phototest.tif", "in/1.tif");
  CopySample("synthetic/receipt-200.png", "in/2.png");
  const ProgramResult refused = Ocr({"in"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(Contains(refused.err, "say where to write 2 documents: -o DIR")) << refused.err;
  const ProgramResult printed = Ocr({"in", "-o", "-"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  const size_t feed = printed.out.find('\f');
  ASSERT_NE(feed, std::string::npos);
  EXPECT_TRUE(Contains(printed.out.substr(0, feed), "quick brown"));
  EXPECT_TRUE(Contains(printed.out.substr(feed), "QUAY TRADING"));
}

TEST_F(InputsTest, AnImageOrPdfOnStandardInputIsRead) {
  for (const char* word : {"-", "/dev/stdin"}) {
    const ProgramResult printed = Ocr({word}, Page());
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_TRUE(Contains(printed.out, "quick brown")) << printed.out;
  }
  const ProgramResult written = Ocr({"-", "-o", "out"}, Page());
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(Outputs(folder_ / "out").size(), 3U);
  EXPECT_TRUE(Contains(ReadFile(folder_ / "out/stdin.txt"), "quick brown"));

  const ProgramResult pdf = Ocr({"-"}, ReadFile(SourcePath("tests/data/images/encrypted.pdf")));
  EXPECT_EQ(pdf.exit_code, 1);
  EXPECT_TRUE(Contains(pdf.err, "standard input: the file is encrypted")) << pdf.err;
  const ProgramResult heif = Ocr({"-"}, std::string(kHeif, sizeof(kHeif)));
  EXPECT_EQ(heif.exit_code, 1);
  EXPECT_TRUE(Contains(heif.err, "standard input: HEIF files are not read")) << heif.err;
  EXPECT_EQ(Ocr({"-"}, "").exit_code, 2);
}

TEST_F(InputsTest, AListThatIsADocumentIsRefused) {
  CopySample("pages/phototest.tif", "a.tif");
  const ProgramResult result = Ocr({"--manifest", "a.tif", "-o", "out"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(Contains(result.err, "a.tif: is a document (TIFF), not a list of names"))
      << result.err;
  EXPECT_FALSE(Exists("out"));
}

// ------------------------------------------------------------------- what is there and what not

TEST_F(InputsTest, ANamedInputThatIsNotThereCostsNothing) {
  CopySample("pages/phototest.tif", "a.tif");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"nosuch"}, {"a.tif", "nosuch"}, {"a.tif", "*.gif"}}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"-o", "out"});
    const ProgramResult result = Ocr(all);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(Contains(result.err, words.back())) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(Exists("out"));
  }
}

TEST_F(InputsTest, InputsWithoutADocumentAreAnError) {
  fs::create_directory(folder_ / "empty");
  folder_.Write("notes/a.txt", "words");
  folder_.Write("notes/.hidden", "words");
  folder_.Write("missing.list", "x.tif\ny.tif\n");
  folder_.Write("empty.list", "\n\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"empty"}, "there is no document to read. Readable: PNG"},
      {{"notes"}, "found 1 other file (.txt 1), 1 hidden file"},
      {{"notes/a.txt"}, "found 1 other file (.txt 1)"},
      {{"--manifest", "missing.list"}, "of 2 listed files none is there (x.tif)"},
      {{"--manifest", "empty.list"}, "there is no document to read"},
  };
  for (const auto& [words, message] : cases) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"-o", "out"});
    const ProgramResult result = Ocr(all);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_TRUE(Contains(result.err, message)) << result.err;
    EXPECT_FALSE(Exists("out"));
  }
}

TEST_F(InputsTest, AFinishedTreeIsNothingToDo) {
  CopySample("pages/phototest.tif", "in/a.tif");
  EXPECT_EQ(Ocr({"in", "-o", "out"}).exit_code, 0);
  const ProgramResult again = Ocr({"in", "-o", "out"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_TRUE(Contains(again.out, "nothing to do: the document was finished before")) << again.out;
  EXPECT_FALSE(Contains(again.out, "core-hour"));
}

TEST_F(InputsTest, OtherFilesAreNamedAndChangeNothing) {
  CopySample("pages/phototest.tif", "in/scan");  // a document whatever it is called
  folder_.Write("in/notes.txt", "words");
  folder_.Write("in/more.txt", "words");
  folder_.Write("in/Thumbs.db",
                std::string("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", 8) + std::string(3000, '\0'));
  folder_.Write("in/.DS_Store", "x");
  const ProgramResult result = Ocr({"in", "-o", "out"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Contains(result.err, "not read: 3 other files (.txt 2, .db 1), 1 hidden file"))
      << result.err;
  const Json not_read = Report()["not_read"];
  EXPECT_EQ(not_read["other_files"], Json({"in/Thumbs.db", "in/more.txt", "in/notes.txt"}));
  EXPECT_EQ(not_read["hidden_files"], Json({"in/.DS_Store"}));
  EXPECT_TRUE(Exists("out/in/scan.txt"));
}

TEST_F(InputsTest, ResultsOfAnotherRunAreNoScansWhoeverLooksForThem) {
  CopySample("pages/phototest.tif", "in/a.tif");
  EXPECT_EQ(Ocr({"in", "-o", "in/old", "--format", "txt,pdf"}).exit_code, 0);
  const std::string warning = "in/old: not read, for it holds results of platen; name it";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"in", "-o", "out"}, {"in", "-o", "out", "--dry-run"}}) {
    const ProgramResult result = Ocr(words);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(Contains(result.err, warning)) << result.err;
  }
  const Json report = Json::parse(ReadFile(folder_ / "out/run.json"));
  EXPECT_EQ(report["not_read"]["folders_of_results"], Json({"in/old"}));
  EXPECT_EQ(report["totals"]["pages_read"], 1);
  const ProgramResult compared = RunProgram({.words = {"compare", "in"}, .folder = folder_.path()});
  EXPECT_EQ(compared.exit_code, 0);
  EXPECT_TRUE(Contains(compared.err, warning)) << compared.err;
  EXPECT_TRUE(Contains(compared.out, "\n1 page, 0 failed")) << compared.out;
}

TEST_F(InputsTest, KnownFormatsThatAreNotReadAreFailures) {
  CopySample("pages/phototest.tif", "in/a.tif");
  folder_.Write("in/b.heic", std::string(kHeif, sizeof(kHeif)));
  folder_.Write("in/c", "AT&TFORM and so on");
  const ProgramResult result = Ocr({"in", "-o", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(Contains(result.err, "in/b.heic: HEIF files are not read")) << result.err;
  EXPECT_TRUE(Contains(result.err, "in/c: DjVu files are not read")) << result.err;
  EXPECT_EQ(Outputs(folder_ / "out").size(), 3U);
  EXPECT_TRUE(Contains(result.out, "1 document read, 2 failed")) << result.out;
}

TEST_F(InputsTest, ALineOfAListThatIsNotThereFailsByItself) {
  CopySample("pages/phototest.tif", "in/a.tif");
  CopySample("synthetic/receipt-200.png", "in/b.png");
  folder_.Write("list", "in/a.tif\nin/b.png\n");
  EXPECT_EQ(Ocr({"--manifest", "list", "-o", "out"}).exit_code, 0);
  const auto before = Outputs(folder_ / "out");
  fs::rename(folder_ / "in/a.tif", folder_ / "elsewhere.tif");
  const ProgramResult result = Ocr({"--manifest", "list", "-o", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(Contains(result.err, "in/a.tif: no such file")) << result.err;
  EXPECT_TRUE(Outputs(folder_ / "out") == before);  // what was read stays
  const Json failure = Json::parse(ReadFile(folder_ / "out/failures.jsonl"));
  EXPECT_EQ(failure["input"], "in/a.tif");
}

TEST_F(InputsTest, ADocumentThatIsDamagedLaterKeepsItsEarlierOutputs) {
  CopySample("pages/phototest.tif", "in/a.tif");
  EXPECT_EQ(Ocr({"in", "-o", "out"}).exit_code, 0);
  const auto before = Outputs(folder_ / "out");
  folder_.Write("in/a.tif", Page().substr(0, 5000));
  const ProgramResult result = Ocr({"in", "-o", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(Contains(result.err, "the outputs of an earlier run")) << result.err;
  EXPECT_TRUE(Outputs(folder_ / "out") == before);
}

// ---------------------------------------------------------------------------------------- names

TEST_F(InputsTest, InputsThatCollideAreRefusedWithTheRootThatKeepsThemApart) {
  CopySample("pages/phototest.tif", "x/a.tif");
  CopySample("pages/eurotext.tif", "y/a.tif");
  const ProgramResult result = Ocr({"x/a.tif", "y/a.tif", "-o", "out"});
  EXPECT_EQ(result.exit_code, 2);
  for (const std::string& part : {std::string("x/a.tif and y/a.tif would both write out/a.tif"),
                                  "--input-root " + folder_.path()}) {
    EXPECT_TRUE(Contains(result.err, part)) << part << " in " << result.err;
  }
  EXPECT_FALSE(Exists("out"));
  EXPECT_EQ(Ocr({"x/a.tif", "y/a.tif", "-o", "out", "--input-root", folder_.path()}).exit_code, 0);
  EXPECT_TRUE(Exists("out/x/a.tif.txt") && Exists("out/y/a.tif.txt"));
}

TEST_F(InputsTest, ARunDoesNotReplaceWhatAnEarlierOneReadElsewhere) {
  CopySample("pages/phototest.tif", "x/a.tif");
  CopySample("pages/eurotext.tif", "y/a.tif");
  CopySample("pages/phototest.tif", "z/a.tif");
  ASSERT_EQ(Ocr({"x/a.tif", "-o", "out"}).exit_code, 0);
  const auto before = Outputs(folder_ / "out");
  const ProgramResult result = Ocr({"y/a.tif", "-o", "out"});
  EXPECT_EQ(result.exit_code, 2);
  for (const std::string& part : {"y/a.tif: would replace the outputs of " + folder_ / "x/a.tif",
                                  "--input-root " + folder_.path()}) {
    EXPECT_TRUE(Contains(result.err, part)) << part << " in " << result.err;
  }
  EXPECT_EQ(Outputs(folder_ / "out"), before);
  EXPECT_EQ(Ocr({"z/a.tif", "-o", "out"}).exit_code, 0);  // a copy

  std::filesystem::remove(folder_ / "x/a.tif");
  std::filesystem::remove(folder_ / "z/a.tif");
  EXPECT_EQ(Ocr({"y/a.tif", "-o", "out"}).exit_code, 0);  // moved, and scanned anew
  EXPECT_NE(Outputs(folder_ / "out"), before);
}

TEST_F(InputsTest, ADryRunRefusesWhatARunRefuses) {
  CopySample("pages/phototest.tif", "x/a.tif");
  CopySample("pages/eurotext.tif", "y/a.tif");
  ASSERT_EQ(Ocr({"x/a.tif", "-o", "out"}).exit_code, 0);
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--force"}}) {
    std::vector<std::string> words = {"y/a.tif", "-o", "out"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult run = Ocr(words);
    words.push_back("--dry-run");
    const ProgramResult plan = Ocr(words);
    EXPECT_EQ(plan.exit_code, 2);
    EXPECT_TRUE(Contains(plan.err, "y/a.tif: would replace the outputs of")) << plan.err;
    EXPECT_EQ(run.exit_code, 2);
  }
  const ProgramResult forced = Ocr({"x/a.tif", "-o", "out", "--force", "--dry-run"});
  EXPECT_TRUE(Contains(forced.out, "would read 1 document, 1 page; 0 finished")) << forced.out;
}

TEST_F(InputsTest, StandardInputDoesNotReplaceWhatCameOnItEarlier) {
  const std::string other = ReadFile(SourcePath("assets/samples/pages/eurotext.tif"));
  ASSERT_EQ(Ocr({"-", "-o", "out"}, Page()).exit_code, 0);
  const auto before = Outputs(folder_ / "out");
  const ProgramResult result = Ocr({"-", "-o", "out"}, other);
  EXPECT_EQ(result.exit_code, 2);
  for (const char* part :
       {"standard input: would replace the outputs of an earlier standard input in out/stdin.*",
        "choose another folder for the outputs, or remove out/stdin.* first"}) {
    EXPECT_TRUE(Contains(result.err, part)) << part << " in " << result.err;
  }
  CopySample("pages/eurotext.tif", "stdin");
  EXPECT_EQ(Ocr({"stdin", "-o", "out"}).exit_code, 2);
  EXPECT_EQ(Outputs(folder_ / "out"), before);
  EXPECT_EQ(Ocr({"-", "-o", "out", "--format", "txt,md,json,tsv"}, Page()).exit_code, 0);

  for (const auto& entry : fs::directory_iterator(folder_ / "out")) {
    if (entry.path().filename().string().starts_with("stdin.")) fs::remove(entry.path());
  }
  EXPECT_EQ(Ocr({"-", "-o", "out"}, other).exit_code, 0);
  EXPECT_NE(Outputs(folder_ / "out"), before);
}

TEST_F(InputsTest, FilesOfPagesOfAnEarlierRunAreNotReplaced) {
  CopySample("pages/phototest.tif", "a.tif.p0001");
  std::filesystem::copy_file(SourcePath("tests/data/images/two_pages.pdf"), folder_ / "a.tif");
  const std::vector<std::string> names = {"a.tif.p0001", "a.tif"};
  for (const size_t first : {0U, 1U}) {
    const std::string out = "out" + std::to_string(first);
    ASSERT_EQ(Ocr({names[first], "-o", out, "--format", "alto", "--text-layer", "use"}).exit_code,
              0);
    const auto before = Outputs(folder_ / out);
    const ProgramResult result = Ocr({names[1 - first], "-o", out, "--format", "alto"});
    EXPECT_EQ(result.exit_code, 2) << first;
    EXPECT_TRUE(Contains(result.err, "may both write the same file")) << result.err;
    EXPECT_EQ(Outputs(folder_ / out), before);
    EXPECT_EQ(Ocr({names[1 - first], "-o", out, "--format", "txt"}).exit_code, 0);
  }
}

TEST_F(InputsTest, PicturesDoNotReplaceInputs) {
  CopySample("pages/phototest.tif", "images/a.tif/p1-1.png");
  CopySample("pages/phototest.tif", "a.tif");
  const ProgramResult now =
      Ocr({"a.tif", "images/a.tif/p1-1.png", "-o", ".", "--images", "images"});
  EXPECT_EQ(now.exit_code, 2);
  EXPECT_TRUE(Contains(now.err, "lies in")) << now.err;
  ASSERT_EQ(Ocr({"images/a.tif/p1-1.png", "-o", "."}).exit_code, 0);
  EXPECT_EQ(Ocr({"a.tif", "-o", ".", "--images", "images"}).exit_code, 2);
  EXPECT_EQ(Ocr({"a.tif", "-o", ".", "--images", "pictures"}).exit_code, 0);
}

TEST_F(InputsTest, TheOutputOfASingleDocumentIsNamed) {
  CopySample("pages/phototest.tif", "deep/er/a.tif");
  for (const std::string& typed : {std::string("deep/er/a.tif"), folder_ / "deep/er/a.tif"}) {
    const ProgramResult result = Ocr({typed, "-o", "out", "--force"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(
        Contains(result.out, "text in out/a.tif.txt (and .md, .json), report in out/run.json"))
        << result.out;
  }
  EXPECT_EQ(Outputs(folder_ / "out").size(), 3U);
}

TEST_F(InputsTest, InputAndOutputAreNotTheSameFolder) {
  CopySample("pages/phototest.tif", "in/a.tif");
  const ProgramResult result = Ocr({"in", "-o", "in"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(Contains(result.err, "in: input and output are the same folder")) << result.err;
}

// ----------------------------------------------------------------------------- choices refused

TEST_F(InputsTest, GranularitiesTheModelWasNotTrainedForAreRefused) {
  CopySample("pages/phototest.tif", "a.tif");
  for (const char* granularity : {"block", "page"}) {
    const ProgramResult refused = Ocr({"a.tif", "-o", "out", "--granularity", granularity});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_TRUE(Contains(refused.err, "trained to read by line")) << refused.err;
    EXPECT_FALSE(Exists("out"));
    const ProgramResult allowed = Ocr({"a.tif", "-o", granularity, "--granularity", granularity,
                                       "--allow-untrained", "--max-new-tokens", "8"});
    EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  }
  EXPECT_EQ(Ocr({"a.tif", "-o", "out", "--granularity", "line"}).exit_code, 0);
}

TEST_F(InputsTest, AnEncryptedPdfIsReadWithItsPassword) {
  const std::string pdf = SourcePath("tests/data/images/encrypted.pdf");
  EXPECT_TRUE(Contains(Ocr({pdf, "-o", "out"}).err, "--password-file"));
  EXPECT_EQ(Ocr({pdf, "-o", "out", "--password-file", "nowhere"}).exit_code, 2);
  folder_.Write("empty", "\n");
  EXPECT_EQ(Ocr({pdf, "-o", "out", "--password-file", "empty"}).exit_code, 2);
  folder_.Write("passwords", "wrong\r\nsecret\r\n");
  EXPECT_EQ(Ocr({pdf, "-o", "out", "--password-file", "passwords"}).exit_code, 0);
  EXPECT_EQ(Report()["totals"]["pages_read"], 2);
  const auto exported = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"export", "out", "--format", "html"});
    return RunProgram(ProgramRun{std::move(words), "", {}, folder_.path(), {}}).exit_code;
  };
  EXPECT_EQ(exported({}), 1) << "pages cannot be shown without a password";
  EXPECT_EQ(exported({"--password-file", "passwords"}), 0);
}

TEST_F(InputsTest, AFileForEachPageIsPrintedIfThereIsOnePage) {
  const std::string pages = SourcePath("tests/data/images/three_pages.tif");
  const ProgramResult several = Ocr({pages, "--format", "alto"});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_EQ(several.out, "");
  EXPECT_TRUE(Contains(several.err, "has 3 pages, and alto is a file for each")) << several.err;
  const ProgramResult one = Ocr({pages, "--format", "alto", "--pages", "2"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.out.find("<?xml"), 0U);
  EXPECT_EQ(one.out.rfind("<?xml"), 0U);
}

TEST_F(InputsTest, ChosenPagesAddUp) {
  const std::string pages = SourcePath("tests/data/images/three_pages.tif");
  EXPECT_EQ(Ocr({pages, "-o", "whole"}).exit_code, 0);
  EXPECT_EQ(Ocr({pages, "-o", "out", "--pages", "2"}).exit_code, 0);
  EXPECT_EQ(Json::parse(ReadFile(folder_ / "out/three_pages.tif.json"))["pages"].size(), 1U);
  EXPECT_EQ(Ocr({pages, "-o", "out", "--pages", "1"}).exit_code, 0);
  const Json both = Json::parse(ReadFile(folder_ / "out/three_pages.tif.json"))["pages"];
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0]["page"], 1);
  EXPECT_EQ(Ocr({pages, "-o", "out"}).exit_code, 0);
  EXPECT_TRUE(Outputs(folder_ / "out") == Outputs(folder_ / "whole"));
}

TEST_F(InputsTest, DoubtfulPagesAreListedAndCanFailTheRun) {
  fs::create_directory(folder_ / "in");
  fs::copy_file(SourcePath("tests/data/doubts/greek.png"), folder_ / "in/greek.png");
  CopySample("pages/phototest.tif", "in/latin.tif");
  const ProgramResult result = Ocr({"in", "-o", "out"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Contains(result.err, "1 doubtful page, worth a look:")) << result.err;
  EXPECT_TRUE(Contains(result.err, "in/greek.png: ")) << result.err;
  const Json doubtful = Report()["doubtful"];
  ASSERT_EQ(doubtful.size(), 1U);
  EXPECT_EQ(doubtful[0]["input"], "in/greek.png");
  EXPECT_EQ(doubtful[0]["code"], "foreign_script");
  EXPECT_EQ(Ocr({"in", "-o", "strict", "--fail-on", "doubtful"}).exit_code, 1);
}

TEST_F(InputsTest, AFolderInPlaceOfTheReportIsNoticedBeforeTheRun) {
  CopySample("pages/phototest.tif", "a.tif");
  for (const char* name : {"run.json", "failures.jsonl"}) {
    const std::string out = std::string("out-") + name;
    fs::create_directories(folder_ / out + "/" + name);
    const ProgramResult result = Ocr({"a.tif", "-o", out});
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_TRUE(Contains(result.err, out + "/" + name)) << result.err;
    EXPECT_FALSE(Exists(out + "/a.tif.txt"));
  }
}

TEST_F(InputsTest, DebugSaysMoreThanInfoAndQuietLess) {
  CopySample("pages/phototest.tif", "a.tif");
  const std::string info = Ocr({"a.tif", "-o", "1"}).err;
  const std::string debug = Ocr({"a.tif", "-o", "2", "--log-level", "debug"}).err;
  const std::string verbose = Ocr({"a.tif", "-o", "3", "-v"}).err;
  const std::string quiet = Ocr({"a.tif", "-o", "4", "-q"}).err;
  EXPECT_TRUE(Contains(info, "reading 1 document with")) << info;
  EXPECT_FALSE(Contains(info, "debug:"));
  for (const std::string& text : {debug, verbose}) {
    EXPECT_TRUE(Contains(text, "a.tif page 1: ")) << text;
    EXPECT_TRUE(Contains(text, "mean confidence")) << text;
    EXPECT_TRUE(Contains(text, "a.tif.txt (")) << text;
  }
  EXPECT_EQ(quiet, "");
}

TEST_F(InputsTest, WhatHappensInARunIsDatedWhereThereIsNoTerminal) {
  folder_.Write("in/cut.png",
                ReadFile(SourcePath("assets/samples/synthetic/receipt-200.png")).substr(0, 3000));
  const std::string err = Ocr({"in", "-o", "out"}).err;
  const size_t at = err.find(" warning: in/cut.png: cut off at byte 3,000 (PNG)\n");
  ASSERT_NE(at, std::string::npos) << err;
  EXPECT_EQ(err.substr(at - 19, 2), "20");  // of the year
}

}  // namespace
}  // namespace platen
