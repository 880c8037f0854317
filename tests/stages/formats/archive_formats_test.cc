// hOCR, TSV, ALTO and PAGE: what stands in them, and that a validator which is not ours accepts it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "stages/formats/document_writer.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::SourcePath;
using testing::TempFolder;

std::array<ResultPoint, 4> Quad(double x0, double y0, double x1, double y1) {
  return {{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}};
}

LineResult MakeLine(const std::string& text, double x, double y) {
  LineResult line;
  line.quad = Quad(x, y, x + 100, y + 20);
  line.baseline = {{{x, y + 15}, {x + 100, y + 15}}};
  line.text = text;
  line.confidence = {4, 0.9, 0.7};
  const size_t space = text.find(' ');
  if (space == std::string::npos) return line;
  const auto first = static_cast<int>(space), size = static_cast<int>(text.size());
  line.words = {{0, first, Quad(x, y, x + 40, y + 20), 0.875},
                {first + 1, size, Quad(x + 50, y, x + 100, y + 20), 0.7}};
  return line;
}

RegionResult MakeRegion(RegionKind kind, std::vector<LineResult> lines) {
  RegionResult region;
  region.kind = kind;
  region.box = {10, 10, 300, 200};
  region.confidence = {8, 0.9, 0.7};
  for (const LineResult& line : lines) region.text += line.text + "\n";
  region.lines = std::move(lines);
  return region;
}

PageResult MakePage(std::vector<RegionResult> regions) {
  PageResult page;
  page.page = 3;
  page.width = 640;
  page.height = 480;
  page.dpi_x = page.dpi_y = 150;
  page.regions = std::move(regions);
  return page;
}

PageResult TextPage() {
  return MakePage({MakeRegion(RegionKind::kText, {MakeLine("<Dear> Sir", 10, 20)})});
}

RegionResult MakeTable() {
  RegionResult region =
      MakeRegion(RegionKind::kTable,
                 {MakeLine("a", 20, 20), MakeLine("b c", 150, 20), MakeLine("below", 20, 60)});
  region.table = TableResult{2, 2, {}};
  region.table->cells = {{0, 0, 1, 1, Quad(10, 10, 140, 50), {}, {0}},
                         {0, 1, 2, 1, Quad(140, 10, 300, 90), {}, {1}},
                         {1, 0, 1, 1, Quad(10, 50, 140, 90), {}, {}}};
  return region;
}

// Pages with everything that a result may hold.
std::vector<PageResult> AllPages() {
  std::vector<RegionResult> regions;
  for (size_t kind = 0; kind < kNumRegionKinds; ++kind) {
    regions.push_back(MakeRegion(static_cast<RegionKind>(kind), {MakeLine("Dear Sir", 10, 20)}));
    regions.push_back(MakeRegion(static_cast<RegionKind>(kind), {}));
    regions.back().text.clear();
  }
  regions.push_back(MakeTable());
  regions.push_back(MakeRegion(RegionKind::kText, {}));
  regions.back().text = "read as\na whole";
  std::vector<PageResult> pages = {MakePage(regions)};
  for (const int rotation : {90, 180, 270}) {
    pages.push_back(MakePage({MakeTable()}));
    pages.back().rotation = rotation;
  }
  pages.push_back(MakePage({MakeRegion(RegionKind::kText, {MakeLine("slant ed", 10, 20)})}));
  for (ResultPoint& p : pages.back().regions[0].lines[0].quad) p.y += p.x / 20;
  pages.push_back(MakePage({}));
  pages.push_back({});
  pages.back().error = "cannot be decoded: \"<&>\"";
  pages.push_back(TextPage());
  pages.back().doubts = {{DoubtKind::kLowConfidence, "1 of 1 lines is --> bad"}};
  pages.back().regions[0].error = pages.back().regions[0].lines[0].error = "too small";
  pages.push_back(MakePage({MakeRegion(RegionKind::kText, {MakeLine("", 10, 20)})}));
  return pages;
}

// Text that would do harm if it were taken for markup, columns or identifiers.
const std::vector<std::string>& HostileTexts() {
  static const auto& texts =
      *new std::vector<std::string>{"</span></p><script>alert(1)</script>",
                                    "\"' onmouseover=\"x\" &amp; &#0; &lt;!-- --> ]]> <![CDATA[",
                                    std::string("nul\0 bell\a esc\x1b[0m tab\tform\ffeed", 32),
                                    "\xFF\xFE not utf-8 \xED\xA0\x80",
                                    "\xEF\xBF\xBF \xEF\xBF\xBE \u2028 \u202e right to left",
                                    "line\r\nbreaks\n\nwithin",
                                    "; bbox 0 0 1 1; x_wconf 7",
                                    std::string(20000, '<')};
  return texts;
}

PageResult HostilePage(const std::string& text) {
  PageResult page = TextPage();
  page.error = page.regions[0].error = page.regions[0].lines[0].error = text;
  page.regions[0].text = page.regions[0].lines[0].text = text;
  const auto size = static_cast<int>(text.size());
  page.regions[0].lines[0].words = {{1, size / 2, Quad(10, 20, 50, 40), 0.5},
                                    {size / 2, size, Quad(-50, 20, 9000, 40), 0.5}};
  page.doubts = {{DoubtKind::kNoText, text}};
  return page;
}

std::string Write(const std::string& format, const std::vector<PageResult>& pages,
                  const DocumentInfo& info = {"a/b.tif", {{"platen", "1"}, {"model", "m<1>"}}}) {
  const auto writer = MakeDocumentWriter(format);
  std::string out = writer->Begin(info);
  for (const PageResult& page : pages) out += writer->Page(page);
  return out + writer->End();
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

::testing::AssertionResult Has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no " << part << " in\n" << text.substr(0, 4000);
}

TEST(Hocr, HoldsPagesAreasLinesAndWords) {
  const std::string text = Write("hocr", {TextPage()});
  EXPECT_TRUE(Has(text, "<meta name=\"ocr-system\" content=\"platen 1\"/>"));
  EXPECT_EQ(text.substr(text.find("<body>")),
            "<body>\n"
            "  <div class=\"ocr_page\" id=\"page_1\" title=\"image &quot;a/b.tif&quot;; bbox 0 0 "
            "640 480; "
            "ppageno 2; scan_res 150 150\">\n"
            "   <div class=\"ocr_carea\" id=\"block_1_1\" title=\"bbox 10 10 300 200\" "
            "data-kind=\"text\">\n"
            "    <p class=\"ocr_par\" id=\"par_1_1_1\" title=\"bbox 10 10 300 200\">\n"
            "     <span class=\"ocr_line\" id=\"line_1_1_1_1\" title=\"bbox 10 20 110 40; baseline "
            "0 -5\">\n"
            "      <span class=\"ocrx_word\" id=\"word_1_1_1_1_1\" title=\"bbox 10 20 50 40; "
            "x_wconf 88\">"
            "&lt;Dear&gt;</span>\n"
            "      <span class=\"ocrx_word\" id=\"word_1_1_1_1_2\" title=\"bbox 60 20 110 40; "
            "x_wconf 70\">"
            "Sir</span>\n"
            "     </span>\n"
            "    </p>\n"
            "   </div>\n"
            "  </div>\n"
            " </body>\n"
            "</html>\n");
}

TEST(Hocr, BaselinesSlopeFromTheBottomLeftOfTheLine) {
  PageResult page = TextPage();
  LineResult& line = page.regions[0].lines[0];
  line.quad = {{{10, 20}, {110, 25}, {110, 45}, {10, 40}}};
  line.baseline = {{{60, 37.5}, {110, 40}}};  // begins further right
  EXPECT_TRUE(Has(Write("hocr", {page}),
                  "bbox 10 20 110 45; poly 10 20 110 25 110 45 10 40; baseline 0.05 -10"));
  line.baseline = {};  // not measured: the lower edge
  EXPECT_TRUE(Has(Write("hocr", {page}), "10 40; baseline 0.05 -5"));
  page.rotation = 90;
  EXPECT_TRUE(Has(Write("hocr", {page}), "; textangle 90\""));
}

TEST(Hocr, KindsHaveElementsOfTheirOwn) {
  const std::string text = Write("hocr", AllPages());
  for (const char* name : {"title", "caption", "table", "display", "photo", "linedrawing", "header",
                           "footer", "pageno", "textfloat", "textimage"}) {
    EXPECT_TRUE(Has(text, std::string("class=\"ocr_") + name + "\""));
  }
  EXPECT_TRUE(Has(text, "data-error=\"cannot be decoded: &quot;&lt;&amp;&gt;&quot;\""));
  EXPECT_TRUE(Has(text, "data-doubt=\"1 of 1 lines is --&gt; bad\""));
}

TEST(Tsv, HasTheColumnsOfTesseract) {
  EXPECT_EQ(
      Write("tsv", {TextPage()}),
      "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\t"
      "text\n"
      "1\t3\t0\t0\t0\t0\t0\t0\t640\t480\t-1\t\n"
      "2\t3\t1\t0\t0\t0\t10\t10\t290\t190\t-1\t\n"
      "3\t3\t1\t1\t0\t0\t10\t10\t290\t190\t-1\t\n"
      "4\t3\t1\t1\t1\t0\t10\t20\t100\t20\t-1\t\n"
      "5\t3\t1\t1\t1\t1\t10\t20\t40\t20\t87.5\t<Dear>\n"
      "5\t3\t1\t1\t1\t2\t60\t20\t50\t20\t70\tSir\n");
}

TEST(Tsv, CellsAreParagraphsAndNumbersStartAnew) {
  const std::string text = Write("tsv", {MakePage({MakeTable(), MakeTable()})});
  EXPECT_TRUE(Has(text, "3\t3\t1\t2\t0\t0\t140\t10\t160\t80\t-1\t\n"));
  EXPECT_TRUE(Has(text, "5\t3\t2\t1\t1\t1\t20\t20\t100\t20\t70\ta\n"));
  EXPECT_TRUE(Has(text, "5\t3\t2\t3\t1\t1\t20\t60\t100\t20\t70\tbelow\n"));
}

TEST(Tsv, AFailedPageIsARow) {
  PageResult page;
  page.page = 2;
  page.error = "cannot be decoded";
  EXPECT_TRUE(Has(Write("tsv", {page}), "text\n1\t2\t0\t0\t0\t0\t0\t0\t0\t0\t-1\t\n"));
}

TEST(Alto, HoldsBlocksLinesStringsAndSpaces) {
  const std::string text = Write("alto", {TextPage()});
  EXPECT_TRUE(Has(text, "<fileName>b.tif</fileName>"));
  EXPECT_TRUE(Has(text, "<processingStepSettings>model=m&lt;1&gt;</processingStepSettings>"));
  EXPECT_TRUE(Has(text,
                  "<Page ID=\"page\" PHYSICAL_IMG_NR=\"3\" WIDTH=\"640\" HEIGHT=\"480\" "
                  "PROCESSINGREFS=\"platen\" PC=\"0.9\">"));
  EXPECT_EQ(text.substr(text.find("    <TextBlock")),
            "    <TextBlock ID=\"r1\" TAGREFS=\"kind_text\" HPOS=\"10\" VPOS=\"10\" WIDTH=\"290\" "
            "HEIGHT=\"190\">\n"
            "     <TextLine ID=\"r1_l1\" HPOS=\"10\" VPOS=\"20\" WIDTH=\"100\" HEIGHT=\"20\" "
            "BASELINE=\"10,35 110,35\">\n"
            "      <String ID=\"r1_l1_w1\" HPOS=\"10\" VPOS=\"20\" WIDTH=\"40\" HEIGHT=\"20\" "
            "CONTENT=\"&lt;Dear&gt;\" WC=\"0.875\"/>\n"
            "      <SP WIDTH=\"10\" HPOS=\"50\" VPOS=\"20\"/>\n"
            "      <String ID=\"r1_l1_w2\" HPOS=\"60\" VPOS=\"20\" WIDTH=\"50\" HEIGHT=\"20\" "
            "CONTENT=\"Sir\" WC=\"0.7\"/>\n"
            "     </TextLine>\n"
            "    </TextBlock>\n"
            "   </PrintSpace>\n"
            "  </Page>\n"
            " </Layout>\n"
            "</alto>\n");
}

TEST(Alto, WordsPartedByAHyphenAreWholeInBothLines) {
  const auto of = [](const std::string& first, const std::string& second) {
    return Write("alto", {MakePage({MakeRegion(RegionKind::kText, {MakeLine(first, 10, 20),
                                                                   MakeLine(second, 10, 50)})})});
  };
  const std::string parted = of("the re-", "ports of");
  EXPECT_TRUE(Has(parted, "CONTENT=\"re\""));
  EXPECT_TRUE(Has(parted, "SUBS_TYPE=\"HypPart1\" SUBS_CONTENT=\"reports\""));
  EXPECT_TRUE(Has(parted, "SUBS_TYPE=\"HypPart2\" SUBS_CONTENT=\"reports\""));
  EXPECT_EQ(Count(parted, "<HYP CONTENT=\"-\"/>"), 1U);
  EXPECT_EQ(Count(of("the re-", "Ports of"), "<HYP"), 0U) << "a name";
  EXPECT_EQ(Count(of("the -", "ports of"), "<HYP"), 0U) << "a dash";
  EXPECT_TRUE(Has(of("is self-", "made of"), "SUBS_CONTENT=\"self-made\""));
}

TEST(Alto, TablesAreRowsOfCellsAndPicturesIllustrations) {
  const std::string table = Write("alto", {MakePage({MakeTable()})});
  EXPECT_TRUE(Has(table, "TYPE=\"table\""));
  EXPECT_EQ(Count(table, "TYPE=\"row\""), 2U);
  EXPECT_TRUE(Has(table, "ID=\"r1_row1_cell2\""));
  EXPECT_TRUE(Has(table,
                  "<TextBlock ID=\"r1_row2_cell1\" HPOS=\"10\" VPOS=\"50\" WIDTH=\"130\" "
                  "HEIGHT=\"40\"/>"));
  EXPECT_TRUE(Has(table, "<TextBlock ID=\"r1_rest\""));
  const std::string all = Write("alto", {AllPages()[0]});
  EXPECT_TRUE(Has(all, "TAGREFS=\"kind_figure\" TYPE=\"figure\""));
  EXPECT_TRUE(Has(all, "LABEL=\"page_number\""));
}

TEST(Alto, FailedDoubtfulAndTurnedPagesSaySo) {
  const std::vector<PageResult> pages = AllPages();
  EXPECT_TRUE(Has(Write("alto", {pages[6]}),
                  "QUALITY=\"Damaged\" QUALITY_DETAIL=\"cannot be decoded: &quot;&lt;&amp;&gt;"));
  EXPECT_TRUE(Has(Write("alto", {pages[7]}), "QUALITY_DETAIL=\"doubtful: 1 of 1 lines is"));
  EXPECT_TRUE(Has(Write("alto", {pages[1]}), "WIDTH=\"480\" HEIGHT=\"640\""));
  EXPECT_TRUE(Has(Write("alto", {pages[1]}), "ROTATION=\"90\""));
  EXPECT_TRUE(Has(Write("alto", {pages[4]}), "<Polygon POINTS=\"10,21 110,26 110,46 10,41\"/>"));
}

TEST(PageXml, HoldsRegionsLinesAndWords) {
  const std::string text = Write("page", {TextPage()});
  EXPECT_TRUE(Has(text, "<Created>1970-01-01T00:00:00</Created>"));
  EXPECT_EQ(text.substr(text.find(" <Page")),
            " <Page imageFilename=\"b.tif\" imageWidth=\"640\" imageHeight=\"480\" "
            "imageXResolution=\"150\" imageYResolution=\"150\" imageResolutionUnit=\"PPI\" "
            "custom=\"page {number:3;}\" conf=\"0.9\">\n"
            "  <ReadingOrder>\n"
            "   <OrderedGroup id=\"order\">\n"
            "    <RegionRefIndexed index=\"0\" regionRef=\"r1\"/>\n"
            "   </OrderedGroup>\n"
            "  </ReadingOrder>\n"
            "  <TextRegion id=\"r1\" custom=\"kind {type:text;}\" type=\"paragraph\">\n"
            "   <Coords points=\"10,10 300,10 300,200 10,200\"/>\n"
            "   <TextLine id=\"r1_l1\">\n"
            "    <Coords points=\"10,20 110,20 110,40 10,40\"/>\n"
            "    <Baseline points=\"10,35 110,35\"/>\n"
            "    <Word id=\"r1_l1_w1\">\n"
            "     <Coords points=\"10,20 50,20 50,40 10,40\"/>\n"
            "     <TextEquiv conf=\"0.875\">\n"
            "      <Unicode>&lt;Dear&gt;</Unicode>\n"
            "     </TextEquiv>\n"
            "    </Word>\n"
            "    <Word id=\"r1_l1_w2\">\n"
            "     <Coords points=\"60,20 110,20 110,40 60,40\"/>\n"
            "     <TextEquiv conf=\"0.7\">\n"
            "      <Unicode>Sir</Unicode>\n"
            "     </TextEquiv>\n"
            "    </Word>\n"
            "    <TextEquiv conf=\"0.9\">\n"
            "     <Unicode>&lt;Dear&gt; Sir</Unicode>\n"
            "    </TextEquiv>\n"
            "   </TextLine>\n"
            "   <TextEquiv conf=\"0.9\">\n"
            "    <Unicode>&lt;Dear&gt; Sir</Unicode>\n"
            "   </TextEquiv>\n"
            "  </TextRegion>\n"
            " </Page>\n"
            "</PcGts>\n");
}

TEST(PageXml, TablesHaveCellsAndPicturesAreRegions) {
  const std::string table = Write("page", {MakePage({MakeTable()})});
  EXPECT_TRUE(Has(table, "rows=\"2\" columns=\"2\""));
  EXPECT_TRUE(
      Has(table, "<TableCellRole rowIndex=\"0\" columnIndex=\"1\" rowSpan=\"2\" colSpan=\"1\"/>"));
  const std::string all = Write("page", {AllPages()[0]});
  for (const char* name : {"ImageRegion", "ChartRegion", "MathsRegion", "GraphicRegion",
                           "TextRegion", "TableRegion"}) {
    EXPECT_TRUE(Has(all, std::string("<") + name));
  }
  EXPECT_TRUE(Has(all, "type=\"page-number\""));
}

TEST(PageXml, FailedAndTurnedPagesSaySo) {
  const std::vector<PageResult> pages = AllPages();
  EXPECT_TRUE(Has(Write("page", {pages[6]}), "<UserAttribute name=\"error\" value=\"cannot be"));
  EXPECT_TRUE(Has(Write("page", {pages[7]}), "<UserAttribute name=\"doubts\""));
  EXPECT_TRUE(Has(Write("page", {pages[7]}), "comments=\"too small\""));
  EXPECT_TRUE(Has(Write("page", {pages[3]}), "orientation=\"-90\""));
  EXPECT_TRUE(Has(Write("page", {pages[2]}), "orientation=\"180\""));
}

// All pages in all formats as files of their own, and hostile text wherever text can stand.
void WriteAll(TempFolder& folder) {
  for (const std::string& format :
       {std::string("hocr"), std::string("tsv"), std::string("alto"), std::string("page")}) {
    int number = 0;
    const auto add = [&](const PageResult& page, const DocumentInfo& info) {
      folder.Write("d" + std::to_string(number++) + "." + NamingOf(format).extension,
                   Write(format, {page}, info));
    };
    for (const PageResult& page : AllPages()) add(page, {"a/b.tif", {{"platen", "1"}}});
    for (const std::string& text : HostileTexts())
      add(HostilePage(text), {text, {{"model", text}}});
    if (!NamingOf(format).per_page) {
      folder.Write("all." + NamingOf(format).extension, Write(format, AllPages()));
    }
  }
}

TEST(ArchiveFormats, AValidatorThatIsNotOursAcceptsThem) {
  if (std::system("command -v python3 >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  TempFolder folder;
  WriteAll(folder);
  const std::string tool = "python3 '" + SourcePath("tools/eval/validate_formats.py") + "' '";
  EXPECT_EQ(std::system((tool + folder.path() + "'").c_str()), 0);
  folder.Write("bad.hocr", "<p id=\"a\"><b id=\"a\"/></p>");
  EXPECT_NE(std::system((tool + folder.path() + "' >/dev/null").c_str()), 0);
}

}  // namespace
}  // namespace platen
