// Output formats: what users read, and the page results that wait on disk.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/support/error.h"
#include "stages/formats/document_writer.h"
#include "stages/formats/markdown_escape.h"
#include "stages/formats/markdown_writer.h"
#include "stages/formats/page_json.h"

namespace platen {
namespace {

LineResult MakeLine(const std::string& text, double y) {
  LineResult line;
  line.quad = {{{10, y}, {200.04, y}, {200.04, y + 20}, {10, y + 20}}};
  line.box = {10, y, 200.04, y + 20};
  line.text = text;
  line.confidence = {4, 0.912345, 0.71};
  return line;
}

RegionResult MakeRegion(std::vector<LineResult> lines) {
  RegionResult region;
  region.box = {10, 10, 200, 60};
  for (const LineResult& line : lines) {
    if (!region.text.empty()) region.text += '\n';
    region.text += line.text;
  }
  region.confidence = {8, 0.9, 0.71};
  region.lines = std::move(lines);
  return region;
}

PageResult MakePage(int number) {
  PageResult page;
  page.page = number;
  page.width = 640;
  page.height = 480;
  page.rotation = 90;
  page.skew_degrees = -0.37;
  page.regions = {MakeRegion({MakeLine("Dear Sir,", 10), MakeLine("thank you.", 40)}),
                  MakeRegion({MakeLine("1. Yours", 80)})};
  return page;
}

std::string Write(const std::string& format, const std::vector<PageResult>& pages) {
  const auto writer = MakeDocumentWriter(format);
  std::string out = writer->Begin({"a/b.tif", {{"model", "m1"}, {"task", "text"}}});
  for (const PageResult& page : pages) out += writer->Page(page);
  return out + writer->End();
}

PageResult FailedPage(int number) {
  PageResult page;
  page.page = number;
  page.error = "cannot be decoded";
  return page;
}

TEST(TextWriterTest, BlankLineBetweenBlocksAndFormFeedBetweenPages) {
  EXPECT_EQ(Write("txt", {MakePage(1), FailedPage(2), MakePage(3)}),
            "Dear Sir,\nthank you.\n\n1. Yours\n\f\fDear Sir,\nthank you.\n\n1. Yours\n");
}

TEST(TextWriterTest, FormFeedsInTextDoNotMakePages) {
  PageResult page = MakePage(1);
  page.regions[0].text = "a\fb";
  EXPECT_EQ(Write("txt", {page}), "a b\n\n1. Yours\n");
}

std::string Reflowed(const PageResult& page) {
  RenderOptions options;
  options.reflow = true;
  return MakeDocumentWriter("txt", options)->Page(page);
}

TEST(TextWriterTest, ReflowJoinsTheLinesOfAParagraph) {
  PageResult page = MakePage(1);
  page.regions[0] = MakeRegion({MakeLine("It was the best of re-", 10), MakeLine("ports.", 40)});
  page.regions[1].kind = RegionKind::kCode;
  page.regions[1].text = "if x:\n  y";
  EXPECT_EQ(Reflowed(page), "It was the best of reports.\n\nif x:\n  y\n");
  PageResult column = page;
  column.regions[1] = MakeRegion({MakeLine("pers of the house.", 10)});
  column.regions[0] = MakeRegion({MakeLine("It was the best of pa-", 10)});
  EXPECT_EQ(Reflowed(column), "It was the best of papers of the house.\n") << "over columns";
  page.regions[0].lines.clear();  // read as a whole
  EXPECT_EQ(Reflowed(page).substr(0, 30), "It was the best of re-\nports.\n");
}

TEST(MarkdownWriterTest, PagesAreMarkedAndPlainTextIsEscaped) {
  EXPECT_EQ(Write("md", {MakePage(1)}),
            "<!-- page 1 -->\n\nDear Sir, thank you.\n\n1\\. Yours\n\n");
}

TEST(MarkdownWriterTest, AFailedPageSaysWhyWithoutEndingItsComment) {
  PageResult page = FailedPage(2);
  page.error = "odd --> name";
  EXPECT_EQ(Write("md", {page}), "<!-- page 2: odd --  name -->\n\n");
}

TEST(MarkdownWriterTest, TextOfAWholeRegionIsTheModelsOwnMarkdown) {
  PageResult page = MakePage(1);
  page.regions.resize(1);
  page.regions[0].lines.clear();
  page.regions[0].text = "# Title\n* item";
  EXPECT_EQ(Write("md", {page}), "<!-- page 1 -->\n\n# Title\n- item\n\n");
}

TEST(MarkdownWriterTest, EscapesOnlyWhatMarkdownWouldChange) {
  EXPECT_EQ(EscapeMarkdownLine("plain text, 3.5 % of 12."), "plain text, 3.5 % of 12.");
  EXPECT_EQ(EscapeMarkdownLine("# not a heading"), "\\# not a heading");
  EXPECT_EQ(EscapeMarkdownLine("  - no item "), "\\- no item");
  EXPECT_EQ(EscapeMarkdownLine("* no item"), "\\* no item");
  EXPECT_EQ(EscapeMarkdownLine("12) no item"), "12\\) no item");
  EXPECT_EQ(EscapeMarkdownLine("a*b_c <d> [e](f) [sic]"), "a\\*b_c \\<d> [e\\](f) [sic]");
  EXPECT_EQ(EscapeMarkdownLine("[1]: see"), "\\[1]: see");
  EXPECT_EQ(EscapeMarkdownLine("$5 and $6, $a$"), "\\$5 and \\$6, \\$a$");
  EXPECT_EQ(EscapeMarkdownLine("for $5 and $6"), "for $5 and $6");
  EXPECT_EQ(EscapeMarkdownHeading("C # and C #"), "C # and C \\#");
  EXPECT_EQ(EscapeMarkdownCell("a|b *c*"), "a\\|b \\*c\\*");
  EXPECT_EQ(EscapeMarkdownLine("3.90 and 2 * 3 < 7 - a_b, 5.) [x"),
            "3.90 and 2 * 3 < 7 - a_b, 5.) [x");
  EXPECT_EQ(EscapeMarkdownLine("#5 and -3 and +49"), "#5 and -3 and +49");
  EXPECT_EQ(EscapeMarkdownLine("---"), "\\---");
  EXPECT_EQ(EscapeMarkdownLine("===="), "\\====");
  EXPECT_EQ(EscapeMarkdownLine("_so_ ~~not~~ C:\\dir \\*"),
            "\\_so\\_ \\~\\~not\\~\\~ C:\\dir \\\\\\*");
  EXPECT_EQ(EscapeMarkdownLine("A & B &amp; &#65;"), "A & B \\&amp; \\&#65;");
}

PageResult DoubtfulPage() {
  PageResult page = MakePage(3);
  page.doubts = {{DoubtKind::kLowConfidence, "2 of 3 lines are bad"},
                 {DoubtKind::kForeignScript, "all is -->"}};
  return page;
}

TEST(MarkdownWriterTest, ADoubtfulPageSaysWhyBeforeItsText) {
  const std::string text = Write("md", {DoubtfulPage()});
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "<!-- page 3: doubtful: 2 of 3 lines are bad; all is --  -->");
  EXPECT_NE(text.find("Dear Sir,"), std::string::npos);
  EXPECT_EQ(Write("txt", {DoubtfulPage()}), Write("txt", {MakePage(3)}));
}

TEST(PageJsonTest, DoubtsAreKeptAndAbsentWhereThereAreNone) {
  const auto json = nlohmann::json::parse(Write("json", {MakePage(1), DoubtfulPage()}));
  EXPECT_FALSE(json["pages"][0].contains("doubts"));
  const auto& doubts = json["pages"][1]["doubts"];
  ASSERT_EQ(doubts.size(), 2U);
  EXPECT_EQ(doubts[0]["code"], "low_confidence");
  EXPECT_EQ(doubts[0]["text"], "2 of 3 lines are bad");
  const PageResult again = PageFromJson(PageToJson(DoubtfulPage()));
  ASSERT_EQ(again.doubts.size(), 2U);
  EXPECT_EQ(again.doubts[1].kind, DoubtKind::kForeignScript);
  EXPECT_EQ(again.doubts[1].text, "all is -->");
  EXPECT_TRUE(PageFromJson(PageToJson(MakePage(1))).doubts.empty());
}

TEST(PageJsonTest, EveryKindOfDoubtHasACodeThatIsReadBack) {
  PageResult page = MakePage(1);
  for (const DoubtKind kind :
       {DoubtKind::kNoText, DoubtKind::kLowConfidence, DoubtKind::kForeignScript,
        DoubtKind::kRepetition, DoubtKind::kTokenLimit}) {
    page.doubts = {{kind, "x"}};
    EXPECT_EQ(PageFromJson(PageToJson(page)).doubts.at(0).kind, kind);
  }
  std::string unknown = PageToJson(page);
  unknown.replace(unknown.find("token_limit"), 11, "from_a_moon");
  EXPECT_THROW(PageFromJson(unknown), Error);
}

TEST(JsonWriterTest, HoldsSettingsPagesRegionsAndLines) {
  const auto json = nlohmann::json::parse(Write("json", {MakePage(1), FailedPage(2)}));
  EXPECT_EQ(json["source"], "a/b.tif");
  EXPECT_EQ(json["settings"]["task"], "text");
  ASSERT_EQ(json["pages"].size(), 2U);
  const auto& line = json["pages"][0]["regions"][0]["lines"][1];
  EXPECT_EQ(line["text"], "thank you.");
  EXPECT_EQ(line["tokens"], 4);
  EXPECT_EQ(line["confidence"]["mean"], 0.9123);
  EXPECT_EQ(line["quad"][1][0], 200.0);
  EXPECT_FALSE(line.contains("error"));
  EXPECT_EQ(json["pages"][0]["rotation"], 90);
  EXPECT_EQ(json["pages"][1]["error"], "cannot be decoded");
}

TEST(JsonWriterTest, ADocumentWithoutPagesIsStillJson) {
  EXPECT_EQ(nlohmann::json::parse(Write("json", {}))["pages"].size(), 0U);
}

TEST(JsonWriterTest, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  PageResult page = MakePage(1);
  page.regions[0].text =
      "a\xFF"
      "b";
  page.warnings = {
      "a\xFF"
      "b"};
  const auto json = nlohmann::json::parse(Write("json", {page}));
  EXPECT_EQ(json["pages"][0]["regions"][0]["text"],
            "a\xEF\xBF\xBD"
            "b");
}

TEST(PageJsonTest, APageReadBackGivesTheSameBytesInEveryFormat) {
  PageResult page = MakePage(7);
  page.warnings = {"low confidence"};
  page.regions[1].error = "1 of 2 lines could not be read";
  page.regions[1].lines[0].warnings = {"stopped by the token limit"};
  page.regions[1].lines[0].error = "too small";
  const std::string stored = PageToJson(page);
  EXPECT_EQ(stored.find('\n'), std::string::npos);
  const PageResult back = PageFromJson(stored);
  EXPECT_EQ(PageToJson(back), stored);
  for (const std::string& format : KnownFormats()) {
    EXPECT_EQ(Write(format, {back}), Write(format, {page})) << format;
  }
}

PageResult DetailedPage() {
  PageResult page = MakePage(1);
  page.dpi_x = 300;
  page.dpi_y = 298.6;
  RegionResult& region = page.regions[0];
  region.kind = RegionKind::kListItem;
  region.native_label = "content";
  region.score = 0.75;
  region.quad = {{{1, 2}, {3, 4}, {5, 6}, {7, 8}}};
  LineResult& line = region.lines[0];
  line.baseline = {{{10, 25}, {200, 26}}};
  line.tokens = {{4, 0.5}, {9, 0.25}};
  line.words = {{0, 4, line.quad, 0.5}, {5, 9, line.quad, 0.25}};
  page.regions[1].lines.clear();
  page.regions[1].syntax = TextSyntax::kLatex;
  page.regions[1].tokens = {{8, 1}};
  return page;
}

TEST(PageJsonTest, AKeptPageHasTokensWordsBaselinesAndResolution) {
  const std::string stored = PageToJson(DetailedPage());
  const PageResult back = PageFromJson(stored);
  EXPECT_EQ(PageToJson(back), stored);
  EXPECT_EQ(back.dpi_y, 298.6);
  EXPECT_EQ(back.regions[0].kind, RegionKind::kListItem);
  EXPECT_EQ(back.regions[0].score, 0.75);
  EXPECT_EQ(back.regions[0].native_label, "content");
  EXPECT_EQ(back.regions[1].native_label, "");
  EXPECT_EQ(back.regions[0].quad[3].y, 8);
  const LineResult& line = back.regions[0].lines[0];
  EXPECT_EQ(line.baseline[1].y, 26);
  EXPECT_EQ(line.tokens[1].end, 9);
  EXPECT_EQ(line.tokens[1].probability, 0.25);
  EXPECT_EQ(line.words[1].begin, 5);
  EXPECT_EQ(line.words[1].confidence, 0.25);
  EXPECT_EQ(back.regions[1].syntax, TextSyntax::kLatex);
  EXPECT_EQ(back.regions[1].tokens[0].end, 8);
}

TEST(PageJsonTest, AKeptPageSaysHowItStandsInItsFile) {
  PageResult page = MakePage(1);
  EXPECT_EQ(PageToJson(page).find("in_file"), std::string::npos);
  page.in_file = {640, 240, 204, 98};
  const PageResult back = PageFromJson(PageToJson(page));
  EXPECT_EQ(back.in_file.width, 640);
  EXPECT_EQ(back.in_file.height, 240);
  EXPECT_EQ(back.in_file.dpi_y, 98);
  std::string spoilt = PageToJson(page);
  spoilt.replace(spoilt.find("640,240"), 7, "640,  0");
  EXPECT_THROW(PageFromJson(spoilt), Error);
}

TEST(PageJsonTest, ADocumentsJsonSaysWhatItsReadersKnow) {
  const auto keys = [](const nlohmann::json& object) {
    std::vector<std::string> names;
    for (const auto& [key, unused] : object.items()) names.push_back(key);
    return names;
  };
  const nlohmann::json page = nlohmann::json::parse(PageToPrettyJson(DetailedPage(), 0));
  EXPECT_EQ(keys(page), (std::vector<std::string>{"dpi", "height", "page", "regions", "rotation",
                                                  "skew_degrees", "width"}));
  EXPECT_EQ(keys(page["regions"][0]),
            (std::vector<std::string>{"box", "confidence", "label", "lines", "native_label",
                                      "reading_index", "score", "syntax", "text", "tokens"}));
  EXPECT_EQ(page["regions"][1]["reading_index"], 1);
  EXPECT_EQ(keys(page["regions"][0]["lines"][0]),
            (std::vector<std::string>{"box", "confidence", "quad", "text", "tokens", "word_boxes",
                                      "words"}));
  EXPECT_EQ(page["regions"][0]["label"], "list_item");
}

TEST(PageJsonTest, PlacesBeyondTheTextAreRefused) {
  const std::string stored = PageToJson(DetailedPage());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = stored;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return changed.replace(at, from.size(), to);
  };
  EXPECT_THROW(PageFromJson(with("[4,0.5,9,", "[4,0.5,10,")), Error);
  EXPECT_THROW(PageFromJson(with("[4,0.5,9,", "[4,0.5,-1,")), Error);
  EXPECT_THROW(PageFromJson(with("\"begin\":5,\"end\":9", "\"begin\":5,\"end\":10")), Error);
  EXPECT_THROW(PageFromJson(with("\"begin\":5,\"end\":9", "\"begin\":5,\"end\":4")), Error);
  EXPECT_THROW(PageFromJson(with("list_item", "lost_item")), Error);
  EXPECT_THROW(PageFromJson(with("latex", "tex")), Error);
}

TEST(PageJsonTest, AnythingElseIsAnErrorAndNeverACrash) {
  const std::string stored = PageToJson(MakePage(1));
  for (size_t length = 0; length < stored.size(); ++length) {
    EXPECT_THROW(PageFromJson(stored.substr(0, length)), Error) << length;
  }
  EXPECT_THROW(PageFromJson("[]"), Error);
  EXPECT_THROW(PageFromJson(R"({"page": "one"})"), Error);
  const std::string deep(500'000, '[');
  EXPECT_THROW(
      PageFromJson(R"({"page":1,"width":1,"height":1,"rotation":0,"skew_degrees":0,"doubts":)" +
                   deep + std::string(deep.size(), ']') + "}"),
      Error);
  for (const char* page : {"1e99", "4294967297", "0.5", "-1e99"}) {
    EXPECT_THROW(
        PageFromJson(R"({"page":)" + std::string(page) +
                     R"(,"width":1,"height":1,"rotation":0,"skew_degrees":0,"regions":[]})"),
        Error)
        << page;
  }
}

// Whatever stands in a result, every format is what it is twice, also from a writer that has been
// used, and page by page.
TEST(KnownFormatsTest, AWriterStartsAnewAndGivesTheSameBytes) {
  std::vector<std::vector<PageResult>> documents = {
      {}, {FailedPage(1)}, {MakePage(1), FailedPage(2), DetailedPage()}, {PageResult()}};
  documents.push_back({MakePage(1)});
  documents.back()[0].regions[0].lines[0].text = documents.back()[0].regions[0].text =
      std::string("\xff </x> \"&\" \0 -->\n\t", 18);
  for (const std::string& format : KnownFormats()) {
    const auto writer = MakeDocumentWriter(format);
    for (const auto& pages : documents) {
      for (int time = 0; time < 2; ++time) {
        std::string out = writer->Begin({"a/b.tif", {{"model", "m1"}, {"task", "text"}}});
        for (const PageResult& page : pages) out += writer->Page(page);
        out += writer->End();
        EXPECT_EQ(out, Write(format, pages)) << format;
      }
    }
  }
}

TEST(KnownFormatsTest, PagesStandInTheirOrder) {
  for (const std::string& format : KnownFormats()) {
    if (format == "pdf") continue;  // its text is in codes: see pdf_writer_test.cc
    std::vector<PageResult> pages(3);
    for (size_t i = 0; i < pages.size(); ++i) {
      pages[i] = MakePage(static_cast<int>(i) + 1);
      const std::string text = "Page" + std::string(1, static_cast<char>('A' + i));
      pages[i].regions = {MakeRegion({MakeLine(text, 10)})};
    }
    if (NamingOf(format).per_page) pages.resize(1);
    const std::string out = Write(format, pages);
    size_t at = 0;
    for (size_t i = 0; i < pages.size(); ++i) {
      at = out.find("Page" + std::string(1, static_cast<char>('A' + i)), at);
      EXPECT_NE(at, std::string::npos) << format << " page " << i;
    }
  }
}

TEST(OutputSuffixTest, NamesTheFilesOfAFormatAndIsReadBack) {
  EXPECT_EQ(OutputSuffix("txt", 3, 9), "txt");
  EXPECT_EQ(OutputSuffix("alto", 3, 9), "p0003.alto.xml");
  EXPECT_EQ(OutputSuffix("alto", 12345, 20000), "p12345.alto.xml");
  EXPECT_EQ(OutputSuffix("page", 1, 1), "page.xml");
  EXPECT_EQ(OutputSuffix("page", 0, 0), "page.xml");
  for (const std::string& format : KnownFormats()) {
    for (const int page : {1, 12345, 999'999}) {
      EXPECT_EQ(FormatOfSuffix(OutputSuffix(format, page, 2'000'000)), format);
    }
    EXPECT_EQ(FormatOfSuffix(OutputSuffix(format, 1, 1)), format);
  }
  for (const char* suffix :
       {"", "doc", "p1.alto.xml", "p0001.txt", "p00001.alto.xml", "p0001alto.xml", "x0001.alto.xml",
        "p-001.alto.xml", "p0001.p0002.alto.xml", "p99999999999.alto.xml", "../p0001.alto.xml",
        "p0001.ALTO.XML"}) {
    EXPECT_EQ(FormatOfSuffix(suffix), "") << suffix;
  }
}

TEST(MakeDocumentWriterTest, UnknownFormatsAreNamed) {
  EXPECT_THROW(MakeDocumentWriter("docx"), Error);
  for (const std::string& format : KnownFormats()) EXPECT_NE(MakeDocumentWriter(format), nullptr);
}

}  // namespace
}  // namespace platen
