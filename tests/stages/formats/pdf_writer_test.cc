// Searchable PDF: its structure, where its text lies, and that its images are those of the files.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "stages/formats/document_writer.h"
#include "stages/formats/pdf_image.h"
#include "stages/formats/pdf_parts.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::ReadFile;
using testing::SourcePath;
using testing::TempFolder;

std::array<ResultPoint, 4> Quad(double x0, double y0, double x1, double y1) {
  return {{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}};
}

// 144 dpi: half a unit for each pixel.
PageResult MakePage() {
  PageResult page;
  page.page = 1;
  page.width = 400;
  page.height = 600;
  page.dpi_x = page.dpi_y = 144;
  LineResult line;
  line.text = "Dear Sir";
  line.quad = Quad(40, 60, 240, 100);
  line.words = {{0, 4, Quad(40, 60, 120, 100), 0.9}, {5, 8, Quad(140, 60, 240, 100), 0.9}};
  page.regions.emplace_back();
  page.regions[0].box = {40, 60, 240, 100};
  page.regions[0].text = line.text;
  page.regions[0].lines = {line};
  return page;
}

EncodedImage Sample(const std::string& name) {
  const bool is_png = name.ends_with("png");
  return {is_png ? "image/png" : "image/jpeg", ReadFile(SourcePath(name))};
}

std::string Write(const std::vector<PageResult>& pages, const PageImages::Get& image = {}) {
  const auto writer = MakeDocumentWriter("pdf", {}, {{}, image});
  std::string out = writer->Begin({"a/<b>.tif", {{"platen", "1"}}});
  for (const PageResult& page : pages) out += writer->Page(page);
  return out + writer->End();
}

// Output of a program that is given the file.
std::string OutputOf(const std::string& command, const std::string& pdf) {
  TempFolder folder;
  folder.Write("a.pdf", pdf);
  std::FILE* pipe = ::popen((command + " '" + (folder / "a.pdf") + "' - 2>&1").c_str(), "r");
  std::string out;
  for (int c; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
  ::pclose(pipe);
  return out;
}

bool Has(const char* program) {
  return std::system((std::string("command -v ") + program + " >/dev/null 2>&1").c_str()) == 0;
}

TEST(Pdf, EveryObjectStandsWhereTheTableSays) {
  const std::string pdf = Write({MakePage(), PageResult(), MakePage()}, [](const PageResult&) {
    return EncodedImage{"image/png", "no"};
  });
  const size_t table = pdf.rfind("xref\n0 ", pdf.rfind("startxref") - 1);
  EXPECT_EQ(pdf.substr(pdf.rfind("startxref\n") + 10), std::to_string(table) + "\n%%EOF\n");
  const int size = std::stoi(pdf.substr(table + 7));
  size_t line = pdf.find('\n', table + 7) + 1;
  for (int number = 1; number < size; ++number) {
    const size_t offset = std::stoul(pdf.substr(line + 20 * static_cast<size_t>(number), 10));
    const std::string start = std::to_string(number) + " 0 obj\n";
    EXPECT_EQ(pdf.substr(offset, start.size()), start);
  }
  const std::regex stream("/Length (\\d+) >>\nstream\n");
  for (std::sregex_iterator it(pdf.begin(), pdf.end(), stream), end; it != end; ++it) {
    const size_t behind = static_cast<size_t>(it->position() + it->length()) + std::stoul((*it)[1]);
    EXPECT_EQ(pdf.substr(behind, 11), "\nendstream\n");
  }
  EXPECT_NE(pdf.find("/Count 3 "), std::string::npos);
  EXPECT_NE(pdf.find("<pdfaid:part>2</pdfaid:part>"), std::string::npos);
  EXPECT_NE(pdf.find("a/&lt;b&gt;.tif"), std::string::npos);
}

TEST(Pdf, TheSameContentHasTheSameBytesAndOtherContentAnotherIdentifier) {
  const auto id = [](const std::string& pdf) { return pdf.substr(pdf.rfind("/ID"), 40); };
  const std::string pdf = Write({MakePage()});
  EXPECT_EQ(Write({MakePage()}), pdf);
  PageResult other = MakePage();
  other.regions[0].lines[0].text = "Dear Sis";
  EXPECT_NE(id(Write({other})), id(pdf));
}

TEST(Pdf, ImagesAreTheBytesOfTheirFiles) {
  for (const char* name :
       {"assets/samples/synthetic/form-200.jpg", "assets/samples/synthetic/invoice-150.png"}) {
    const EncodedImage file = Sample(name);
    const auto image = PdfImageOf(file);
    ASSERT_TRUE(image) << name;
    const std::string pdf = Write({MakePage()}, [&](const PageResult&) { return file; });
    EXPECT_NE(pdf.find("stream\n" + image->stream + "\nendstream"), std::string::npos);
    EXPECT_NE(pdf.find("/Scan Do"), std::string::npos);
  }
  EXPECT_EQ(PdfImageOf(Sample("assets/samples/synthetic/form-200.jpg"))->stream,
            Sample("assets/samples/synthetic/form-200.jpg").bytes);
  EXPECT_EQ(Write({MakePage()}).find("/Scan"), std::string::npos);
}

struct Word {
  std::string text;
  double box[4];
};

std::vector<Word> WordsOf(const std::string& pdf) {
  const std::string out = OutputOf("pdftotext -bbox", pdf);
  const std::regex word(
      "xMin=\"([\\d.]+)\" yMin=\"([\\d.]+)\" xMax=\"([\\d.]+)\" yMax=\"([\\d.]+)\">([^<]*)<");
  std::vector<Word> words;
  for (std::sregex_iterator it(out.begin(), out.end(), word), end; it != end; ++it) {
    Word found = {(*it)[5], {}};
    for (size_t i = 0; i < 4; ++i) found.box[i] = std::stod((*it)[i + 1]);
    words.push_back(found);
  }
  return words;
}

// poppler shows turned pages upright, where the words are half as far from the top left as in the
// page result.
TEST(Pdf, WordsFillTheirBoxesHoweverThePageLies) {
  if (!Has("pdftotext")) GTEST_SKIP() << "no pdftotext";
  for (const int rotation : {0, 90, 180, 270}) {
    PageResult page = MakePage();
    page.rotation = rotation;
    const std::vector<Word> words = WordsOf(Write({page}));
    ASSERT_EQ(words.size(), 2U) << rotation;
    EXPECT_EQ(words[0].text, "Dear");
    EXPECT_EQ(words[1].text, "Sir");
    const double expected[2][4] = {{20, 30, 60, 50}, {70, 30, 120, 50}};
    for (size_t i = 0; i < 2; ++i) {
      for (size_t k = 0; k < 4; ++k) {
        EXPECT_NEAR(words[i].box[k], expected[i][k], 0.05) << rotation << " " << i << " " << k;
      }
    }
  }
}

TEST(Pdf, WordsThatTouchAreStillWordsAndSlantedOnesAreRead) {
  if (!Has("pdftotext")) GTEST_SKIP() << "no pdftotext";
  PageResult touching = MakePage();
  touching.regions[0].lines[0].words[1].quad = Quad(120, 60, 240, 100);
  ASSERT_EQ(WordsOf(Write({touching})).size(), 2U);
  PageResult slanted = MakePage();
  LineResult& line = slanted.regions[0].lines[0];
  for (ResultPoint& p : line.quad) p.y += p.x * 0.03;
  for (WordResult& word : line.words) {
    for (ResultPoint& p : word.quad) p.y += p.x * 0.03;
  }
  const std::vector<Word> words = WordsOf(Write({slanted}));
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[0].text, "Dear");
  EXPECT_NEAR(words[0].box[1], 31.2, 0.8);
}

// Apache PDFBox calls a font with an empty table of characters damaged.
TEST(Pdf, PagesWithoutWordsHaveNoFont) {
  PageResult blank = MakePage();
  blank.regions.clear();
  const std::string empty = Write({blank, PageResult()});
  EXPECT_EQ(empty.find("/Font"), std::string::npos);
  EXPECT_EQ(empty.find("PlatenEmpty"), std::string::npos);
  const std::string mixed = Write({blank, MakePage(), blank});
  EXPECT_NE(mixed.find("PlatenEmpty"), std::string::npos);
  size_t pages_with_font = 0;
  for (size_t at = 0; (at = mixed.find("/Font << /Text", at)) != std::string::npos; ++at) {
    ++pages_with_font;
  }
  EXPECT_EQ(pages_with_font, 1U);
}

TEST(Pdf, AnyTextIsReadBack) {
  if (!Has("pdftotext")) GTEST_SKIP() << "no pdftotext";
  PageResult page = MakePage();
  LineResult& line = page.regions[0].lines[0];
  line.words.clear();
  line.text = "\u00e9\u4e2d\U0001F600)(\\<>";
  EXPECT_NE(OutputOf("pdftotext", Write({page})).find(line.text), std::string::npos);
  line.text = std::string("nul\0\xff", 5);
  EXPECT_NE(OutputOf("pdftotext", Write({page})).find("nul"), std::string::npos);
}

TEST(Pdf, AValidatorThatIsNotOursAcceptsIt) {
  if (!Has("qpdf")) GTEST_SKIP() << "no qpdf";
  PageResult turned = MakePage();
  turned.rotation = 270;
  PageResult failed;
  failed.error = "cannot be decoded";
  for (const std::vector<PageResult>& pages :
       {std::vector<PageResult>{MakePage(), turned, failed}, {failed}, {}}) {
    TempFolder folder;
    folder.Write("a.pdf", Write(pages, [](const PageResult&) {
                   return Sample("assets/samples/synthetic/invoice-150.png");
                 }));
    EXPECT_EQ(std::system(("qpdf --check '" + (folder / "a.pdf") + "' >/dev/null").c_str()), 0);
  }
}

TEST(PdfImageTest, OthersThanPdfKnowsAreRefused) {
  for (const char* name : {"cmyk.jpg", "exif2.jpg", "exif3.png"}) {
    const auto image = PdfImageOf(Sample(std::string("tests/data/images/") + name));
    EXPECT_EQ(image.has_value(), std::string(name) != "cmyk.jpg") << name;
  }
  EncodedImage png = Sample("tests/data/images/exif3.png");
  const auto with = [&](size_t at, char value) {
    EncodedImage changed = png;
    changed.bytes[at] = value;
    return PdfImageOf(changed).has_value();
  };
  EXPECT_TRUE(with(0, '\x89'));
  EXPECT_FALSE(with(28, 1)) << "interlaced";
  EXPECT_FALSE(with(25, 6)) << "transparent";
  EXPECT_FALSE(with(16, 127)) << "too wide";
  EXPECT_FALSE(PdfImageOf({"image/gif", png.bytes}));
  png.bytes.insert(33, std::string("\0\0\0\0tRNS\0\0\0\0", 12));  // behind the first chunk
  EXPECT_FALSE(PdfImageOf(png)) << "one colour is transparent";
}

TEST(PdfImageTest, NoFileAndNoPartOfOneIsACrash) {
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/data/images"))) {
    const std::string name = entry.path().string();
    if (!name.ends_with(".jpg") && !name.ends_with(".png")) continue;
    EncodedImage image = {name.ends_with(".png") ? "image/png" : "image/jpeg", ReadFile(name)};
    for (size_t length = 0; length < image.bytes.size(); ++length) {
      PdfImageOf({image.media_type, image.bytes.substr(0, length)});
      EncodedImage changed = image;
      changed.bytes[length] = static_cast<char>(~changed.bytes[length]);
      PdfImageOf(changed);
    }
  }
}

TEST(CodeTableTest, NumbersCharactersAsTheyCome) {
  CodeTable codes;
  EXPECT_EQ(codes.HexOf("aba"), "<000100020001>");
  EXPECT_EQ(codes.HexOf("\U0001F600"), "<0003>");
  EXPECT_NE(codes.ToUnicode().find("<0003> <D83DDE00>"), std::string::npos);
  EXPECT_EQ(codes.GlyphMap(), std::string("\0\0\0\1\0\1\0\1", 8));
}

TEST(CodeTableTest, CharactersBeyondTheLastCodeAreOne) {
  CodeTable codes;
  const auto utf8 = [](uint32_t c) {
    return std::string{static_cast<char>(0xF0), static_cast<char>(0x80 | (c >> 12)),
                       static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
  };
  for (uint32_t c = 0x10000; c < 0x1FFFE; ++c) codes.HexOf(utf8(c));
  EXPECT_EQ(codes.HexOf("a"), codes.HexOf("b"));
  EXPECT_EQ(codes.HexOf("a"), "<FFFF>");
}

}  // namespace
}  // namespace platen
