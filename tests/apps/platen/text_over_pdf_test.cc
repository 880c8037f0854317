// --format pdf of PDF inputs: the input with text over the pages that were read.
#include <map>
#include <regex>
#include <sstream>

#include "tests/apps/platen/ocr_fixture.h"
#include "tests/support/pdf_file.h"

namespace platen {
namespace {

using testing::Contains;
using testing::PdfOfPages;
using testing::PdfPage;
using testing::ReadFile;
using testing::SourcePath;

bool Has(const std::string& program) {
  return std::system((program + " --version > /dev/null 2>&1").c_str()) == 0;
}

std::string OutputOf(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::string out;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) out.append(buffer, n);
  return ::pclose(pipe) == 0 ? out : "failed: " + out;
}

// Two columns of lines and a heading, so that the page is laid out upright, from `x`, `y` down.
// `turn`: a matrix that turns what stands at the origin.
PdfPage Page(const std::string& entries, const std::string& turn) {
  std::string content = "q " + turn + " cm BT/F1 12 Tf 14 TL 40 300 Td\n";
  for (int i = 0; i < 8; ++i) {
    content += "(The quick brown fox jumps over the lazy dog and runs into the wood.)' ";
  }
  return {.entries = entries, .content = content + "ET "};  // its q is left open
}

// Shown upright, however they are turned, cropped and where they begin.
const std::vector<PdfPage>& Pages() {
  static const std::vector<PdfPage> pages = {
      Page("/MediaBox[0 0 500 340]", "1 0 0 1 0 0"),
      Page("/MediaBox[0 0 340 500]/Rotate 90", "0 1 -1 0 340 0"),
      Page("/MediaBox[-10 20 530 400]/CropBox[5 30 505 370]/Rotate 180", "-1 0 0 -1 505 370"),
      Page("/MediaBox[-50 -60 340 500]/CropBox[-10 -20 330 480]/TrimBox[0 0 300 400]/Rotate -90",
           "0 -1 1 0 -10 480"),
      Page("/MediaBox[0 0 500 340]/UserUnit 2", "1 0 0 1 0 0"),
  };
  return pages;
}

struct Word {
  std::string text;
  double x0, y0, x1, y1;
};

std::vector<Word> WordsOf(const std::string& pdf, int page) {
  const std::string number = std::to_string(page);
  const std::string out =
      OutputOf("pdftotext -bbox -cropbox -f " + number + " -l " + number + " " + pdf + " -");
  static const std::regex word(
      R"re(<word xMin="([^"]*)" yMin="([^"]*)" xMax="([^"]*)" yMax="([^"]*)">([^<]*)<)re");
  std::vector<Word> words;
  for (std::sregex_iterator it(out.begin(), out.end(), word), end; it != end; ++it) {
    words.push_back({(*it)[5], std::stod((*it)[1]), std::stod((*it)[2]), std::stod((*it)[3]),
                     std::stod((*it)[4])});
  }
  return words;
}

class TextOverPdfTest : public testing::OcrFixture {
 protected:
  void SetUp() override {
    if (!Has("qpdf") || !Has("pdftotext -v")) GTEST_SKIP() << "no qpdf or no poppler-utils";
  }

  std::string Make(const std::string& pdf, std::vector<std::string> options = {}) {
    const std::string input = folder_.Write("a.pdf", pdf);
    options.insert(options.begin(), {"a.pdf", "-o", "out", "-q", "--force", "--format", "pdf,txt"});
    const testing::ProgramResult result = Ocr(options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    shown_ = result.err;
    return ReadFile(folder_ / "out/a.pdf.pdf");
  }

  std::string shown_;

  // As many words of the text that was read as of the page's own lie where those lie.
  void ExpectWordsTwice(int page) {
    const std::vector<Word> own = WordsOf(folder_ / "a.pdf", page);
    const std::vector<Word> both = WordsOf(folder_ / "out/a.pdf.pdf", page);
    // pdftotext leaves out letters that stand on the same ones: a word of the page's own may be
    // missing from `both`, but not all that stand at a place.
    ASSERT_GT(own.size(), 50U);
    size_t found = 0;
    for (const Word& word : own) {
      found += std::any_of(both.begin(), both.end(), [&](const Word& other) {
        // Of words 12 points high: a third of that for the estimate of where words end.
        constexpr double kOff = 4;
        const bool is_own = word.x0 == other.x0 && word.y0 == other.y0;
        return !is_own && other.text == word.text && std::abs(other.x0 - word.x0) < kOff &&
               std::abs(other.x1 - word.x1) < kOff &&
               std::abs(other.y0 + other.y1 - word.y0 - word.y1) / 2 < kOff;
      });
    }
    EXPECT_GT(found, own.size() * 9 / 10) << "page " << page;
  }
};

TEST_F(TextOverPdfTest, WordsLieWhereTheyStandAndPagesLookTheSame) {
  // Without their own text: letters are drawn, and what reads text finds none.
  std::vector<PdfPage> pages = Pages();
  const std::string made = Make(PdfOfPages(pages), {"--text-layer", "ignore"});
  EXPECT_TRUE(Contains(OutputOf("qpdf --check " + (folder_ / "out/a.pdf.pdf")),
                       "No syntax or stream encoding errors"));
  for (int page = 1; page <= static_cast<int>(pages.size()); ++page) {
    SCOPED_TRACE(page);
    ExpectWordsTwice(page);
    const std::string number = std::to_string(page);
    const auto pixels = [&](const std::string& name) {
      return OutputOf("pdftoppm -r 90 -f " + number + " -l " + number + " " + (folder_ / name));
    };
    EXPECT_TRUE(pixels("a.pdf") == pixels("out/a.pdf.pdf"));
  }
  EXPECT_EQ(Make(PdfOfPages(pages), {"--text-layer", "ignore", "-j", "1"}), made);
}

TEST_F(TextOverPdfTest, AFileOfWhichNothingWasReadIsGivenAsItIs) {
  const std::string pdf = PdfOfPages({Pages()[0], Pages()[1]});
  EXPECT_TRUE(Make(pdf) == pdf);
}

TEST_F(TextOverPdfTest, PagesThatWereNotReadStayAsTheyAre) {
  Make(PdfOfPages({Pages()[0], Pages()[0], Pages()[1]}),
       {"--text-layer", "ignore", "--pages", "2"});
  ExpectWordsTwice(2);
  for (const int page : {1, 3}) {
    EXPECT_EQ(WordsOf(folder_ / "out/a.pdf.pdf", page).size(),
              WordsOf(folder_ / "a.pdf", page).size());
  }
}

// Every line of it, as often as it is there.
std::map<std::string, int> LinesOf(const std::string& pdf) {
  std::istringstream text(OutputOf("pdftotext -layout " + pdf + " -"));
  std::map<std::string, int> lines;
  for (std::string line; std::getline(text, line);) {
    if (line.find_first_not_of(" \f") != std::string::npos) ++lines[line];
  }
  return lines;
}

TEST_F(TextOverPdfTest, TheTextOfAnEarlierRecognitionGoes) {
  for (const char* by : {"tesseract", "ocrmypdf"}) {
    SCOPED_TRACE(by);
    Make(ReadFile(SourcePath(std::string("tests/data/pdf/") + by + ".pdf")),
         {"--text-layer", "ignore"});
    const std::string out = folder_ / "out/a.pdf.pdf";
    EXPECT_TRUE(Contains(OutputOf("qpdf --check " + out), "No syntax or stream encoding errors"));
    EXPECT_TRUE(OutputOf("pdftoppm -r 90 " + (folder_ / "a.pdf")) ==
                OutputOf("pdftoppm -r 90 " + out));
    const std::map<std::string, int> lines = LinesOf(out);
    EXPECT_EQ(lines.size(), 8U);
    for (const auto& [line, times] : lines) {
      // Three lines of the page say the same.
      EXPECT_EQ(times, Contains(line, "quick brown dog jumped over the lazy") ? times : 1) << line;
    }
    EXPECT_EQ(WordsOf(out, 1).size(), WordsOf(folder_ / "a.pdf", 1).size());
    EXPECT_EQ(shown_, "");
  }
}

// What was there stays where it is taken, and where it cannot be told from text that is shown.
TEST_F(TextOverPdfTest, TextThatIsTakenOrVisibleStays) {
  const std::string pdf = ReadFile(SourcePath("tests/data/pdf/tesseract.pdf"));
  EXPECT_TRUE(Make(pdf, {"--text-layer", "use"}) == pdf);
  const PdfPage visible = Pages()[0];
  PdfPage both = visible;
  both.content += "BT 3 Tr/F1 12 Tf 40 20 Td (old) Tj ET";
  Make(PdfOfPages({visible, both}), {"--text-layer", "ignore"});
  ExpectWordsTwice(1);
  EXPECT_FALSE(Contains(OutputOf("pdftotext " + (folder_ / "out/a.pdf.pdf") + " -"), "old"));
  EXPECT_TRUE(Contains(shown_, "out/a.pdf.pdf has text twice on 2 pages, page 1 first")) << shown_;
}

TEST_F(TextOverPdfTest, FormsThatPagesShareAreChangedForThoseThatWereRead) {
  // A form in a form with the old text, drawn on three pages; the third is not read.
  const auto page = [](const std::string& content) {
    return "<</Type/Page/Parent 2 0 R/MediaBox[0 0 500 340]/Contents " + content +
           " 0 R/Resources<</XObject<</O 8 0 R>>/Font<</F1 10 0 R>>>>>>";
  };
  const std::string shown =
      "q 1 0 0 1 0 0 cm BT/F1 12 Tf 14 TL 40 300 Td"
      "(Visible words of a page)' (and a second line)' ET Q /O Do";
  const std::string form = "/Type/XObject/Subtype/Form/BBox[0 0 500 340]";
  const std::string pdf = testing::PdfFile(
      {"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R 4 0 R 5 0 R]/Count 3>>",
       page("6"), page("6"), page("7"), testing::PdfStream(shown), testing::PdfStream(shown),
       testing::PdfStream("/I Do", form + "/Resources<</XObject<</I 9 0 R>>>>"),
       testing::PdfStream("BT/F1 9 Tf 3 Tr 40 20 Td (hidden) Tj ET",
                          form + "/Resources<</Font<</F1 10 0 R>>>>"),
       "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"});
  Make(pdf, {"--text-layer", "ignore", "--pages", "1-2"});
  const std::string out = folder_ / "out/a.pdf.pdf";
  EXPECT_TRUE(Contains(OutputOf("qpdf --check " + out), "No syntax"));
  for (const auto& [number, has] : std::map<std::string, bool>{{"1", 0}, {"2", 0}, {"3", 1}}) {
    const std::string text =
        OutputOf("pdftotext -f " + number + " -l " + number + " " + out + " -");
    EXPECT_EQ(Contains(text, "hidden"), has) << text;
    EXPECT_TRUE(Contains(text, "Visible")) << text;
  }
}

TEST_F(TextOverPdfTest, ResourcesThatPagesShareAndInheritAreKept) {
  // Both pages have the fonts of the tree, one of them with the name that is ours.
  const std::string font =
      "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";
  const std::string content =
      "BT/Text 12 Tf 14 TL 40 300 Td (The quick brown fox)' (jumps over)' ET";
  const std::string pdf = testing::PdfFile(
      {"<</Type/Catalog/Pages 2 0 R>>",
       "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/MediaBox[0 0 500 340]/Rotate 0/Resources 6 0 R>>",
       "<</Type/Page/Parent 2 0 R/Contents 5 0 R>>",
       "<</Type/Page/Parent 2 0 R/Contents[5 0 R 5 0 R]>>", testing::PdfStream(content),
       "<</Font 7 0 R>>", "<</Text " + font + ">>"});
  Make(pdf, {"--text-layer", "ignore"});
  const std::string out = folder_ / "out/a.pdf.pdf";
  EXPECT_TRUE(Contains(OutputOf("qpdf --check " + out), "No syntax"));
  EXPECT_TRUE(OutputOf("pdftoppm -r 90 " + (folder_ / "a.pdf")) ==
              OutputOf("pdftoppm -r 90 " + out));
  EXPECT_GT(WordsOf(out, 1).size(), WordsOf(folder_ / "a.pdf", 1).size());
}

TEST_F(TextOverPdfTest, AnEncryptedFileIsDecrypted) {
  const std::string password = folder_.Write("password", "secret\n");
  const std::string plain = folder_.Write("plain.pdf", PdfOfPages({Pages()[0]}));
  const std::string locked = folder_ / "locked.pdf";
  ASSERT_EQ(OutputOf("qpdf --encrypt secret owner 256 -- " + plain + " " + locked), "");
  Make(ReadFile(locked), {"--password-file", password, "--text-layer", "ignore"});
  EXPECT_GT(WordsOf(folder_ / "out/a.pdf.pdf", 1).size(), WordsOf(plain, 1).size());
}

TEST_F(TextOverPdfTest, AFileThatQpdfCannotTakeBecomesOneOfPictures) {
  folder_.Write("bin/qpdf", "#!/bin/sh\nexit 2\n");
  std::filesystem::permissions(folder_ / "bin/qpdf", std::filesystem::perms::owner_all);
  folder_.Write("a.pdf", PdfOfPages({Pages()[0]}));
  const testing::ProgramResult result =
      Ocr({"a.pdf", "-o", "out", "-q", "--format", "pdf"}, "",
          {"PATH=" + (folder_ / "bin") + ":" + std::getenv("PATH")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Contains(result.err, "out/a.pdf.pdf holds pictures of the pages")) << result.err;
  EXPECT_TRUE(Contains(ReadFile(folder_ / "out/a.pdf.pdf"), "/Scan Do"));
}

TEST_F(TextOverPdfTest, WithoutQpdfTheRunDoesNotBegin) {
  std::filesystem::create_directories(folder_ / "bin");
  for (const char* program : {"pdfinfo", "pdftoppm", "pdftotext", "pdfimages"}) {
    std::filesystem::create_symlink(std::string("/usr/bin/") + program, folder_ / "bin/" + program);
  }
  folder_.Write("a.pdf", PdfOfPages({Pages()[0]}));
  const std::string path = "PATH=" + (folder_ / "bin");
  const auto refused = Ocr({"a.pdf", "-o", "out", "--format", "pdf"}, "", {path});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_TRUE(Contains(refused.err, "needs the program qpdf")) << refused.err;
  EXPECT_FALSE(Exists("out/a.pdf.pdf"));
  CopySample("synthetic/receipt-200.png", "b.png");
  EXPECT_EQ(Ocr({"b.png", "-o", "other", "--format", "pdf"}, "", {path}).exit_code, 0);
}

}  // namespace
}  // namespace platen
