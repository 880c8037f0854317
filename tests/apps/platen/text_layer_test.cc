// platen ocr --text-layer: the text that PDF pages have themselves.
#include <iterator>
#include <set>
#include <sstream>

#include "tests/apps/platen/ocr_fixture.h"
#include "tests/support/json_schema.h"
#include "tests/support/pdf_file.h"

namespace platen {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::Outputs;
using testing::PdfOfPages;
using testing::PdfPage;
using testing::ProgramResult;
using testing::ReadFile;
using testing::ScannedPage;
using testing::SourcePath;

// Lines of text in Helvetica, drawn in `mode`: 0 is visible, 3 is not.
std::string Lines(const std::vector<std::string>& lines, int mode = 0) {
  std::string content = "BT " + std::to_string(mode) + " Tr/F1 12 Tf 14 TL 50 220 Td\n";
  for (const std::string& line : lines) content += "(" + line + ")' ";
  return content + "ET\n";
}

PdfPage Page(const std::string& content) {
  return {.entries = "/MediaBox[0 0 400 260]", .content = content};
}

PdfPage Printed() {
  return Page(Lines({"The quick brown fox jumps", "over the lazy dog at noon."}));
}
PdfPage Scan() {
  PdfPage page = ScannedPage(400, 260, 100, 255);
  page.content += Lines({"The quick brown fox jumps", "over the lazy dog at noon."}, 0);
  return page;
}

class TextLayerTest : public testing::OcrFixture {
 protected:
  Json Read(const std::vector<PdfPage>& pages, const std::string& use) {
    folder_.Write("a.pdf", PdfOfPages(pages));
    std::vector<std::string> words = {"a.pdf",        "-o", "out",      "--force",
                                      "--text-layer", use,  "--format", "json,txt,hocr,page"};
    words.insert(words.end(), options_.begin(), options_.end());
    const ProgramResult result = Ocr(words, "", environment_);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    shown_ = result.out + result.err;
    const Json json = Json::parse(ReadFile(folder_ / "out/a.pdf.json"));
    return json;
  }

  std::vector<std::string> options_, environment_;
  std::string shown_;
};

bool IsOwn(const Json& page) { return page.value("text_source", "") == "text_layer"; }

TEST_F(TextLayerTest, SoundTextIsTakenAndThePageIsNotRead) {
  const Json json = Read({Printed(), Printed()}, "auto");
  EXPECT_EQ(json["settings"]["text_layer"], "auto");
  EXPECT_TRUE(IsOwn(json["pages"][0]) && IsOwn(json["pages"][1]));
  const Json& line = json["pages"][0]["regions"][0]["lines"][0];
  EXPECT_EQ(line["text"], "The quick brown fox jumps");
  EXPECT_EQ(line["tokens"], 0);
  EXPECT_FALSE(line.contains("confidence"));
  EXPECT_EQ(line["word_boxes"], "text_layer");
  EXPECT_EQ(line["words"].size(), 5U);
  EXPECT_NEAR(line["words"][0]["quad"][0][0].get<double>(), 50 * 200 / 72.0, 2);
  EXPECT_TRUE(Contains(ReadFile(folder_ / "out/a.pdf.txt"), "over the lazy dog at noon."));
  EXPECT_TRUE(Contains(ReadFile(folder_ / "out/a.pdf.hocr"), "x_wconf 100"));
  EXPECT_FALSE(Contains(ReadFile(folder_ / "out/a.pdf.p0001.page.xml"), "conf=\"0"));
  EXPECT_TRUE(Contains(shown_, "2 pages read, all from the PDF's own text")) << shown_;
  EXPECT_EQ(Report()["totals"]["pages_from_text_layer"], 2);
  EXPECT_EQ(Report()["totals"]["tokens"], 0);
  const Json schema = Json::parse(ReadFile(SourcePath("docs/schema/page-result.schema.json")));
  EXPECT_EQ(testing::SchemaErrors(schema, json), std::vector<std::string>());
}

TEST_F(TextLayerTest, IgnoreReadsThePage) {
  const Json json = Read({Printed()}, "ignore");
  EXPECT_FALSE(json["settings"].contains("text_layer"));
  EXPECT_FALSE(IsOwn(json["pages"][0]));
  EXPECT_GT(json["pages"][0]["regions"][0]["tokens"], 0);
  EXPECT_FALSE(Contains(shown_, "own text"));
}

TEST_F(TextLayerTest, TextOverAPictureIsTakenOnlyWhenAskedFor) {
  EXPECT_FALSE(IsOwn(Read({Scan()}, "auto")["pages"][0]));
  EXPECT_TRUE(IsOwn(Read({Scan()}, "use")["pages"][0]));
  EXPECT_EQ(Report()["totals"]["tokens"], 0);
}

TEST_F(TextLayerTest, LinesWithoutWordsAreReadWhereTheyStand) {
  // The third line has no text.
  const std::string program = folder_.Write(
      "bin/pdftotext",
      "#!/bin/sh\nPATH=${PATH#*:}; pdftotext \"$@\" | grep -v -e '>Party' -e '>wine'\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  environment_ = {"PATH=" + (folder_ / "bin") + ":" + std::getenv("PATH")};
  const PdfPage page =
      Page(Lines({"The quick brown fox jumps", "over the lazy dog at noon.", "Party wine",
                  "Pack my box with five dozen", "liquor jugs, and more"}));
  const Json automatic = Read({page}, "auto");
  EXPECT_TRUE(IsOwn(automatic["pages"][0]));
  EXPECT_TRUE(Contains(ReadFile(folder_ / "out/a.pdf.txt"), "noon.\nParty wine\nPack my"));
  EXPECT_GT(Report()["totals"]["tokens"], 0);
  EXPECT_TRUE(IsOwn(Read({page}, "use")["pages"][0]));
  EXPECT_TRUE(Contains(ReadFile(folder_ / "out/a.pdf.txt"), "noon.\nPack my"));
  EXPECT_EQ(Report()["totals"]["tokens"], 0);
}

// A model that reads whole blocks: GLM-OCR of random weights.
TEST_F(TextLayerTest, AModelOfBlocksReadsWhatHasNoText) {
  options_ = {"--model", SourcePath("tests/golden/snapshots/tiny-a"), "--max-new-tokens", "6"};
  const Json own = Read({Printed(), Printed()}, "auto");
  EXPECT_TRUE(IsOwn(own["pages"][0]) && IsOwn(own["pages"][1]));
  EXPECT_EQ(Report()["totals"]["tokens"], 0);
  EXPECT_TRUE(Contains(ReadFile(folder_ / "out/a.pdf.txt"), "over the lazy dog at noon."));
  const Json mixed = Read({Printed(), Scan()}, "auto");
  EXPECT_TRUE(IsOwn(mixed["pages"][0]));
  EXPECT_FALSE(IsOwn(mixed["pages"][1]));
  EXPECT_GT(Report()["totals"]["tokens"], 0);
  // The text taken is that of the other model, to the byte.
  const std::string text = ReadFile(folder_ / "out/a.pdf.txt");
  options_.clear();
  Read({Printed(), Scan()}, "use");
  const std::string first_page = ReadFile(folder_ / "out/a.pdf.txt");
  EXPECT_EQ(text.substr(0, text.find('\f')), first_page.substr(0, first_page.find('\f')));
}

// Where a layout model finds its regions, and whatever they are (its weights are random): every
// word of the page stands once in the text.
TEST_F(TextLayerTest, EveryWordIsThereOnceWhateverALayoutModelFinds) {
  for (const char* model : {"tiny-a", "tiny-b", "tiny-c"}) {
    for (const std::vector<std::string>& reader :
         {std::vector<std::string>{},
          {"--model", SourcePath("tests/golden/snapshots/tiny-a"), "--max-new-tokens", "6"}}) {
      SCOPED_TRACE(model);
      options_ = {"--layout-model", SourcePath("tests/golden/pp_doclayout/snapshots/") + model};
      options_.insert(options_.end(), reader.begin(), reader.end());
      const PdfPage page = Page(Lines({"The quick brown fox jumps", "over a lazy dog at noon."}) +
                                "BT/F1 30 Tf 50 90 Td (Heading) Tj ET");
      EXPECT_TRUE(IsOwn(Read({page}, "use")["pages"][0]));
      std::istringstream words(ReadFile(folder_ / "out/a.pdf.txt"));
      std::multiset<std::string> found{std::istream_iterator<std::string>(words), {}};
      EXPECT_EQ(found, (std::multiset<std::string>{"The", "quick", "brown", "fox", "jumps", "over",
                                                   "a", "lazy", "dog", "at", "noon.", "Heading"}));
      EXPECT_EQ(Report()["totals"]["tokens"], 0);
    }
  }
}

TEST_F(TextLayerTest, PagesWithoutTextAreRead) {
  const PdfPage blank = Page("0 0 9 9 re f");
  const Json json = Read({blank, Printed()}, "use");
  EXPECT_FALSE(IsOwn(json["pages"][0]));
  EXPECT_TRUE(IsOwn(json["pages"][1]));
}

TEST_F(TextLayerTest, AnExplicitTaskIsDone) {
  folder_.Write("a.pdf", PdfOfPages({Printed()}));
  EXPECT_EQ(Ocr({"a.pdf", "-o", "out", "--task", "table", "-q"}).exit_code, 0);
  EXPECT_EQ(Report()["totals"]["pages_from_text_layer"], 0);
}

TEST_F(TextLayerTest, TheSameBytesWithAnyThreadsAndSlots) {
  std::vector<PdfPage> pages;
  for (int i = 0; i < 20; ++i) pages.push_back(i % 3 == 0 ? Scan() : Printed());
  folder_.Write("a.pdf", PdfOfPages(pages));
  for (const auto& [out, options] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"one", {"-j", "1", "--slots", "1"}}, {"more", {"-j", "2", "--slots", "7"}}}) {
    std::vector<std::string> words = {"a.pdf", "-o", out, "-q"};
    words.insert(words.end(), options.begin(), options.end());
    EXPECT_EQ(Ocr(words).exit_code, 0);
  }
  // Three runs that add up.
  for (const char* chosen : {"20,3", "5-9", "1-20"}) {
    EXPECT_EQ(Ocr({"a.pdf", "-o", "parts", "-q", "--pages", chosen}).exit_code, 0);
  }
  EXPECT_EQ(Outputs(folder_ / "one"), Outputs(folder_ / "more"));
  EXPECT_EQ(Outputs(folder_ / "one"), Outputs(folder_ / "parts"));
}

}  // namespace
}  // namespace platen
