// The text that pages have themselves: what pdftotext prints, and what the reader makes of it.
#include "stages/readers/poppler_words.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "stages/readers/document_reader.h"
#include "stages/readers/memory_document.h"
#include "tests/support/fake_programs.h"
#include "tests/support/pdf_file.h"
#include "tests/support/temp_files.h"

namespace platen {
namespace {

using ::platen::testing::FakePrograms;
using ::platen::testing::PdfOfPages;
using ::platen::testing::PdfPage;
using ::platen::testing::ScannedPage;
using ::platen::testing::TempFolder;

std::string Xml(const std::string& words) {
  return "<html><title>&lt;word</title><doc>\n<page width=\"72\" "
         "height=\"72\"><flow><block><line>" +
         words + "</line></block></flow></page></doc></html>";
}

constexpr char kPlace[] = R"(<word xMin="1.5" yMin="2" xMax="3" yMax="4">)";

std::vector<std::string> TextsOf(const std::string& words) {
  std::vector<std::string> texts;
  const auto pages = WordsFromPdfToText(Xml(words), 1);
  for (const LayerWord& word : pages.at(1)) texts.push_back(word.text);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(PopplerWords, AreReadWithTheirPlacesAndLines) {
  const auto pages = WordsFromPdfToText(
      Xml(std::string(kPlace) + "a</word>" + kPlace + "b</word></line><line>" + kPlace +
          "c</word></line></block><block><line>" + kPlace + "d</word>") +
          "<page width=\"1\" height=\"1\"></page>",
      7);
  ASSERT_EQ(pages.size(), 2U);
  EXPECT_TRUE(pages.at(8).empty());
  const std::vector<LayerWord>& words = pages.at(7);
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[0].x0, 1.5);
  EXPECT_EQ(words[0].y0, 2);
  EXPECT_EQ(words[0].x1, 3);
  EXPECT_EQ(words[0].y1, 4);
  EXPECT_EQ(words[1].line, words[0].line);
  EXPECT_NE(words[2].line, words[0].line);
  EXPECT_EQ(words[2].block, words[0].block);
  EXPECT_NE(words[3].block, words[0].block);
}

TEST(PopplerWords, EntitiesAreCharactersAndWhatIsNoTextIsMarked) {
  const std::string place = kPlace;
  EXPECT_EQ(TextsOf(place + "R&amp;D</word>" + place + "&lt;a&gt;&quot;&apos;&amp;lt;</word>"),
            (Texts{"R&D", "<a>\"'&lt;"}));
  EXPECT_EQ(TextsOf(place + "a\nb\x7F</word>" + place + "\xFF</word>" + place + "</word>"),
            (Texts{"a\uFFFDb\uFFFD", "\uFFFD"}));
  EXPECT_EQ(TextsOf(place + "&nbsp;&</word>"), (Texts{"&nbsp;&"}));
}

TEST(PopplerWords, APageWithAWordThatHasNoPlaceHasNone) {
  const std::string sound = std::string(kPlace) + "a</word>";
  for (const char* word : {"<word>b</word>", R"(<word xMin="1" yMin="2" xMax="3">b</word>)",
                           R"(<word xMin="nan" yMin="2" xMax="3" yMax="4">b</word>)",
                           R"(<word xMin="1" yMin="2" xMax="1e99" yMax="4">b</word>)",
                           R"(<word xMin="5" yMin="2" xMax="3" yMax="4">b</word>)",
                           R"(<word xMin="1x" yMin="2" xMax="3" yMax="4">b</word>)",
                           R"(<word xMin="1" yMin="2" xMax="3" yMax="4">b<i></i></word>)"}) {
    EXPECT_EQ(TextsOf(sound + word + sound), Texts{}) << word;
  }
  EXPECT_TRUE(WordsFromPdfToText(Xml(std::string(kPlace) + "a").substr(0, 150), 1).at(1).empty());
  EXPECT_TRUE(WordsFromPdfToText("", 1).empty());
  EXPECT_TRUE(WordsFromPdfToText(sound, 1).empty());
}

// ------------------------------------------------------------------------------- of real pages

// A word whose lower left corner is at 100, 100 in the page's own space, on pages that are turned,
// cropped and do not begin at 0. It is white on a dark block of its width (45.56 points) and of the
// height of its capitals, as the shapes of its letters depend on the fonts of the machine.
PdfPage TextPage(const std::string& entries) {
  return {.entries = entries,
          .content = "100 100 45.56 14.36 re f 1 g BT/F1 20 Tf 100 100 Td(Hello)Tj ET"};
}

const std::vector<PdfPage> kPages = {
    TextPage("/MediaBox[0 0 300 200]"), TextPage("/MediaBox[0 0 300 200]/Rotate 90"),
    TextPage("/MediaBox[10 20 310 220]/CropBox[50 60 250 210]/Rotate 180"),
    TextPage("/MediaBox[-90 -80 300 200]/Rotate 270"), ScannedPage(72, 72, 100)};

// The share of the word's box that is dark, and of the dark pixels that lie in it.
std::pair<double, double> InkOf(const LayerWord& word, const Image& image) {
  double dark = 0, inside = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (image.Row(y)[3 * x] > 128) continue;
      ++dark;
      inside += x + 1 >= word.x0 && x < word.x1 + 1 && y + 1 >= word.y0 && y < word.y1 + 1;
    }
  }
  return {inside / ((word.x1 - word.x0) * (word.y1 - word.y0)), inside / dark};
}

TEST(PopplerWords, LieOnTheirInkHoweverThePageIsTurnedAndCropped) {
  const TempFolder folder;
  const auto reader = DocumentReader::Open(folder.Write("a.pdf", PdfOfPages(kPages)), {});
  for (int i = 0; i < 4; ++i) {
    SCOPED_TRACE(i);
    const auto layer = reader->ReadTextLayer(i);
    ASSERT_TRUE(layer);
    EXPECT_FALSE(layer->over_picture);
    ASSERT_EQ(layer->words.size(), 1U);
    EXPECT_EQ(layer->words[0].text, "Hello");
    const auto [of_box, of_ink] = InkOf(layer->words[0], reader->ReadPage(i).image);
    EXPECT_EQ(of_ink, 1);
    EXPECT_GT(of_box, 0.2);
  }
  EXPECT_FALSE(reader->ReadTextLayer(4));
}

TEST(PopplerWords, TextOverAPictureIsCalledThat) {
  const TempFolder folder;
  PdfPage page = ScannedPage(72, 72, 100);
  page.content += "BT 3 Tr/F1 20 Tf 10 10 Td(Old)Tj ET";
  const std::string file = PdfOfPages({page});
  const auto layer = DocumentReader::Open(folder.Write("a.pdf", file), {})->ReadTextLayer(0);
  ASSERT_TRUE(layer);
  EXPECT_TRUE(layer->over_picture);
  const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
  const auto in_memory = OpenBytes({bytes, file.size()}, {});
  ASSERT_TRUE(in_memory->ReadTextLayer(0));
  EXPECT_EQ(in_memory->ReadTextLayer(0)->words[0].text, "Old");
}

TEST(PopplerWords, AProgramThatMisbehavesCostsItsPageAlone) {
  const TempFolder folder;
  const std::string path = folder.Write("a.pdf", PdfOfPages(kPages));
  for (const char* trouble :
       {"exit 3", "yes", "kill -9 $$", "echo; exit 0", "echo '<page><page>'; exit"}) {
    SCOPED_TRACE(trouble);
    const FakePrograms programs;
    programs.Write("pdftotext", "case \"$*\" in *'-l 1 '*|*'-l 5 '*) " + std::string(trouble) +
                                    ";; esac; PATH=${PATH#*:} exec pdftotext \"$@\"\n");
    const auto reader = DocumentReader::Open(path, {});
    EXPECT_FALSE(reader->ReadTextLayer(0));
    EXPECT_TRUE(reader->ReadTextLayer(1));
  }
}

TEST(PopplerWords, PdftotextIsAskedOnceForManyPages) {
  const TempFolder folder;
  const FakePrograms programs;
  const std::string log = programs.folder().path() + "/log";
  programs.Write("pdftotext", "echo x >> " + log + "; PATH=${PATH#*:} exec pdftotext \"$@\"\n");
  const auto reader = DocumentReader::Open(
      folder.Write("a.pdf", PdfOfPages(std::vector<PdfPage>(33, kPages[0]))), {});
  for (int i = 0; i < 33; ++i) EXPECT_TRUE(reader->ReadTextLayer(i)) << i;
  std::ifstream in(log);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "x\nx\nx\n");
}

}  // namespace
}  // namespace platen
