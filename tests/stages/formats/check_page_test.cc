// The check page: what stands in it, and that it works in a browser and nowhere else.
#include <gtest/gtest.h>

#include <cstdlib>

#include "stages/formats/base64.h"
#include "stages/formats/document_writer.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::SourcePath;
using testing::TempFolder;

LineResult MakeLine(const std::string& text, double x, double y, double certainty) {
  LineResult line;
  line.quad = {{{x, y}, {x + 200, y}, {x + 200, y + 30}, {x, y + 30}}};
  line.text = text;
  line.confidence = {4, certainty, certainty};
  return line;
}

PageResult MakePage(std::vector<LineResult> lines) {
  PageResult page;
  page.page = 2;
  page.width = 400;
  page.height = 300;
  page.regions.emplace_back();
  page.regions[0].box = {0, 0, 400, 300};
  page.regions[0].lines = std::move(lines);
  return page;
}

void AddNumber(uint32_t value, int bytes, std::string& out) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 255);
}

// A white page of 400 x 300, dark where a line at (100, 60) stands; 24-bit BMP, bottom row first.
EncodedImage WithDarkBox() {
  constexpr uint32_t kBytes = 400 * 300 * 3, kHead = 54;
  std::string bmp = "BM";
  AddNumber(kHead + kBytes, 4, bmp);
  AddNumber(0, 4, bmp);
  AddNumber(kHead, 4, bmp);
  AddNumber(40, 4, bmp);
  AddNumber(400, 4, bmp);
  AddNumber(300, 4, bmp);
  AddNumber(1, 2, bmp);
  AddNumber(24, 2, bmp);
  for (int i = 0; i < 6; ++i) AddNumber(i == 1 ? kBytes : 0, 4, bmp);
  for (int y = 299; y >= 0; --y) {
    for (int x = 0; x < 400; ++x) {
      const bool dark = x >= 100 && x < 300 && y >= 60 && y < 90;
      bmp.append(3, dark ? '\0' : '\xff');
    }
  }
  return {"image/bmp", bmp};
}

std::string Write(const std::vector<PageResult>& pages, const PageImages::Get& image = {},
                  const std::string& source = "a/b.tif") {
  const auto writer = MakeDocumentWriter("html", {}, {image, {}});
  std::string out = writer->Begin({source, {}});
  for (const PageResult& page : pages) out += writer->Page(page);
  return out + writer->End();
}

::testing::AssertionResult Has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no " << part << " in\n" << text.substr(0, 9000);
}

TEST(CheckPage, HasTheLeastCertainLinesFirstAndTheirShapes) {
  PageResult page = MakePage({MakeLine("sure", 10, 20, 0.99), MakeLine("<doubt>", 10, 60, 0.5)});
  page.rotation = 90;  // the picture is upright, and so are the shapes
  page.in_file = {300, 200, 100, 50};
  const std::string text = Write({page}, [](const PageResult& of) {
    EXPECT_EQ(of.rotation, 90);
    return EncodedImage{"image/png", "any"};
  });
  const size_t start = text.find("  <section"), end = text.find("<script>");
  EXPECT_EQ(text.substr(start, end - start),
            "  <section id=\"p1\">\n"
            "   <h2>Page 2</h2>\n"
            "   <div class=\"pair\">\n"
            "    <div>\n"
            "     <svg viewBox=\"0 0 400 300\">\n"
            "      <image href=\"data:image/png;base64,YW55\" width=\"400\" height=\"300\" "
            "preserveAspectRatio=\"none\"/>\n"
            "      <polygon id=\"s1_1\" class=\"k2\" data-line=\"1_1\" "
            "points=\"10,20 210,20 210,50 10,50\"/>\n"
            "      <polygon id=\"s1_2\" class=\"k0\" data-line=\"1_2\" "
            "points=\"10,60 210,60 210,90 10,90\"/>\n"
            "     </svg>\n"
            "    </div>\n"
            "    <ol>\n"
            "     <li id=\"l1_2\" class=\"k0\" data-line=\"1_2\" data-n=\"1\" data-c=\"5000\" "
            "tabindex=\"0\">\n"
            "      <span class=\"t\" dir=\"auto\">&lt;doubt&gt;</span>\n"
            "      <span class=\"c\">50 %</span>\n"
            "     </li>\n"
            "     <li id=\"l1_1\" class=\"k2\" data-line=\"1_1\" data-n=\"0\" data-c=\"9900\" "
            "tabindex=\"-1\">\n"
            "      <span class=\"t\" dir=\"auto\">sure</span>\n"
            "      <span class=\"c\">99 %</span>\n"
            "     </li>\n"
            "    </ol>\n"
            "   </div>\n"
            "  </section>\n");
}

TEST(CheckPage, SaysWhatIsMissing) {
  PageResult failed;
  failed.page = 3;
  failed.error = "cannot be <decoded>";
  EXPECT_TRUE(Has(Write({failed}), "<p class=\"note\">Not read: cannot be &lt;decoded&gt;</p>"));
  EXPECT_TRUE(Has(Write({MakePage({})}), "<p class=\"note\">No text.</p>"));
  EXPECT_TRUE(Has(Write({MakePage({})}), "There is no picture of this page."));
  const auto none = [](const PageResult&) { return std::nullopt; };
  EXPECT_TRUE(Has(Write({MakePage({})}, none), "There is no picture of this page."));
  PageResult doubtful = MakePage({MakeLine("", 10, 20, 0)});
  doubtful.doubts = {{DoubtKind::kNoText, "nothing <was> read"}};
  doubtful.regions[0].lines[0].error = "too small";
  const std::string text = Write({doubtful});
  EXPECT_TRUE(Has(text, "Doubtful: nothing &lt;was&gt; read"));
  EXPECT_TRUE(Has(text, "(too small)"));
}

TEST(Base64Test, IsThatOfRfc4648) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64(std::string("\xff\xfe\0", 3)), "//4A");
}

// Python's part of the check needs no browser; the tool says whether there was one.
int Validate(const std::string& html, const std::string& option = "") {
  TempFolder folder;
  folder.Write("page.html", html);
  return std::system(("python3 '" + SourcePath("tools/eval/validate_html.py") + "' '" +
                      (folder / "page.html") + "' " + option)
                         .c_str());
}

bool HasPython() { return std::system("command -v python3 >/dev/null 2>&1") == 0; }

TEST(CheckPage, WorksInABrowserAndItsShapesLieOnTheirLines) {
  if (!HasPython()) GTEST_SKIP() << "no python3";
  const PageResult page =
      MakePage({MakeLine("sure", 10, 200, 0.99), MakeLine("the dark box", 100, 60, 0.5)});
  const auto image = [](const PageResult&) { return WithDarkBox(); };
  EXPECT_EQ(Validate(Write({page}, image), "--dark-box"), 0);
  PageResult shifted = page;  // the check of the overlay can fail
  for (ResultPoint& p : shifted.regions[0].lines[1].quad) p.x += 5;
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) GTEST_SKIP() << "no chromium";
  EXPECT_NE(Validate(Write({shifted}, image), "--dark-box"), 0);
}

TEST(CheckPage, HostileTextIsText) {
  if (!HasPython()) GTEST_SKIP() << "no python3";
  const std::vector<std::string> texts = {
      "<script>window.ran = 1</script>",
      "</span><img src=\"http://a.invalid/x\" onerror=\"ran=1\">",
      "\"><svg onload='window.ran=1'>",
      "javascript:window.ran=1",
      "</title></style></script><iframe src=//b.invalid></iframe>",
      "<!-- --!> <![CDATA[ ]]>",
      "url(http://c.invalid/) @import 'http://d.invalid/'",
      "\xff\xc3( \u202e \x01"};
  std::vector<LineResult> lines;
  for (const std::string& text : texts) lines.push_back(MakeLine(text, 10, 10, 0.5));
  PageResult page = MakePage(lines);
  for (const std::string& text : texts) page.doubts.push_back({DoubtKind::kNoText, text});
  page.error = texts[1];
  EXPECT_EQ(Validate(Write({page, page}, {}, texts[1])), 0);
  std::string open = Write({page});
  open.insert(open.find("<ol>"), "<img src=\"x\" onerror=\"ran=1\">");
  EXPECT_NE(Validate(open), 0) << "the check can fail";
}

TEST(CheckPage, AThousandLinesWork) {
  if (!HasPython()) GTEST_SKIP() << "no python3";
  std::vector<LineResult> lines;
  for (int i = 0; i < 1000; ++i) {
    lines.push_back(
        MakeLine("line " + std::to_string(i), i % 200, i * 0.27, (i * 37 % 101) / 100.0));
  }
  EXPECT_EQ(Validate(Write({MakePage(lines)})), 0);
}

}  // namespace
}  // namespace platen
