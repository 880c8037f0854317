// Pages of a PDF rendered together: the same pages as one by one, from fewer processes.
#include "stages/readers/pdf_ranges.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "model/support/error.h"
#include "stages/readers/document_reader.h"
#include "tests/support/fake_programs.h"
#include "tests/support/pdf_file.h"

namespace platen {
namespace {

using ::platen::testing::FakePrograms;
using ::platen::testing::NoChildrenLeft;
using ::platen::testing::PdfOfPages;
using ::platen::testing::PdfPage;
using ::platen::testing::TempFolder;

// A PDF of pages that differ in text and size; those in `broken` have a stream that is not there.
std::string ManyPages(int num_pages, const std::set<int>& broken = {}) {
  std::vector<PdfPage> pages;
  for (int page = 1; page <= num_pages; ++page) {
    pages.push_back({.entries = "/MediaBox[0 0 " + std::to_string(90 + page) + " 90]",
                     .content = "BT/F1 20 Tf 5 50 Td(Page " + std::to_string(page) + ")Tj ET",
                     .has_content = !broken.contains(page)});
  }
  return PdfOfPages(pages);
}

// Stands before the real pdftoppm and writes down what it is asked for.
class RendererLog {
 public:
  RendererLog() { Write(""); }
  // `script` comes before the real program runs.
  void Write(const std::string& script) const {
    programs_.Write("pdftoppm", "echo \"$*\" >> " + path() + "\n" + script +
                                    "PATH=${PATH#*:} exec pdftoppm \"$@\"\n");
  }
  // "1-1" for a page alone, "2-3" for a range, in order of their starts.
  std::vector<std::string> Calls() const {
    std::vector<std::string> calls;
    std::ifstream in(path());
    for (std::string line; std::getline(in, line);) {
      const size_t first = line.find("-f ") + 3;
      const size_t last = line.find("-l ") + 3;
      calls.push_back(line.substr(first, line.find(' ', first) - first) + "-" +
                      line.substr(last, line.find(' ', last) - last));
    }
    return calls;
  }

 private:
  std::string path() const { return programs_.folder().path() + "/log"; }
  FakePrograms programs_;
};

using Calls = std::vector<std::string>;

ReadLimits Coarse() {
  ReadLimits limits;
  limits.pdf_dpi = 72;
  return limits;
}

// What each page is on its own: a reader for every page renders nothing ahead.
std::vector<PageImage> OneByOne(const std::string& path, int num_pages) {
  std::vector<PageImage> pages;
  for (int i = 0; i < num_pages; ++i) {
    pages.push_back(DocumentReader::Open(path, Coarse())->ReadPage(i));
  }
  return pages;
}

void ExpectSame(const PageImage& page, const PageImage& expected) {
  EXPECT_EQ(page.image.width, expected.image.width);
  EXPECT_EQ(page.image.height, expected.image.height);
  EXPECT_TRUE(page.image.rgb == expected.image.rgb);
  EXPECT_EQ(page.dpi_x, expected.dpi_x);
  EXPECT_EQ(page.dpi_y, expected.dpi_y);
  EXPECT_EQ(page.warning, expected.warning);
}

// Files without a name that this process or its children hold in the temporary folder.
int NumNamelessFiles() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    count += std::filesystem::read_symlink(entry.path(), gone).string().ends_with("(deleted)");
  }
  return count;
}

TEST(PdfRanges, AWholeDocumentTakesFewProcessesAndGivesTheSamePages) {
  const TempFolder folder;
  const std::string path = folder.Write("a.pdf", ManyPages(40));
  const std::vector<PageImage> expected = OneByOne(path, 40);
  const RendererLog log;
  const auto reader = DocumentReader::Open(path, Coarse());
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    ExpectSame(reader->ReadPage(i), expected[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(log.Calls(), (Calls{"1-1", "2-3", "4-7", "8-15", "16-31", "32-40"}));
  EXPECT_TRUE(NoChildrenLeft());
  EXPECT_EQ(NumNamelessFiles(), 0);
}

TEST(PdfRanges, PagesPickedHereAndThereAreRenderedAlone) {
  const TempFolder folder;
  const RendererLog log;
  const auto reader = DocumentReader::Open(folder.Write("a.pdf", ManyPages(40)), Coarse());
  for (const int page : {5, 40, 12, 30}) reader->ReadPage(page - 1);
  EXPECT_EQ(log.Calls(), (Calls{"5-5", "40-40", "12-12", "30-30"}));
}

TEST(PdfRanges, APageReadTwiceIsTheSame) {
  const TempFolder folder;
  const auto reader = DocumentReader::Open(folder.Write("a.pdf", ManyPages(6)), Coarse());
  for (int i = 0; i < 6; ++i) ExpectSame(reader->ReadPage(i), reader->ReadPage(i));
}

TEST(PdfRanges, ADamagedPageCostsOnlyItself) {
  const TempFolder folder;
  const std::string path = folder.Write("a.pdf", ManyPages(20, {6, 13, 14}));
  const std::vector<PageImage> expected = OneByOne(path, 20);
  EXPECT_NE(expected[5].warning, "");
  EXPECT_EQ(expected[6].warning, "");
  const auto reader = DocumentReader::Open(path, Coarse());
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    ExpectSame(reader->ReadPage(i), expected[static_cast<size_t>(i)]);
  }
  EXPECT_TRUE(NoChildrenLeft());
}

TEST(PdfRanges, AFileWithComplaintsOnEveryPageIsRenderedPageByPage) {
  const TempFolder folder;
  std::set<int> all;
  for (int page = 1; page <= 20; ++page) all.insert(page);
  const RendererLog log;
  const auto reader = DocumentReader::Open(folder.Write("a.pdf", ManyPages(20, all)), Coarse());
  for (int i = 0; i < 20; ++i) EXPECT_NE(reader->ReadPage(i).warning, "");
  EXPECT_EQ(log.Calls().size(), 20U);
}

// The renderer of ranges does what the script says, that of single pages works.
void ExpectThatSinglePagesHelp(const std::string& path, const std::vector<PageImage>& expected,
                               const std::string& script) {
  SCOPED_TRACE(script);
  const RendererLog log;
  log.Write("case \"$*\" in *-progress*) " + script + ";; esac\n");
  ReadLimits limits = Coarse();
  limits.pdf_page_timeout_s = 1;
  const auto reader = DocumentReader::Open(path, limits);
  for (size_t i = 0; i < expected.size(); ++i) {
    ExpectSame(reader->ReadPage(static_cast<int>(i)), expected[i]);
  }
  EXPECT_TRUE(NoChildrenLeft());
  EXPECT_EQ(NumNamelessFiles(), 0);
}

TEST(PdfRanges, WhereRangesFailPagesAreRenderedOneByOne) {
  const TempFolder folder;
  const std::string path = folder.Write("a.pdf", ManyPages(8));
  const std::vector<PageImage> expected = OneByOne(path, 8);
  for (const char* script : {
           "exit 1", "kill -SEGV $$",
           "exec cat /dev/zero",      // more than the pages can have
           "exec cat /dev/zero >&2",  // endless complaints
           "exit 0",                  // nothing at all
           "for i in $(seq 20); do echo \"$i 20 \" >&2; done; exit 0",  // empty promises
           "echo P6 4 4 255; exit 0",
           "exec 2>&-; sleep 1000"  // hangs
       }) {
    ExpectThatSinglePagesHelp(path, expected, script);
  }
}

// A page that fails in the midst of a range, as a crash does: those before it are there.
TEST(PdfRanges, ACrashInTheMidstOfARangeCostsNoOtherPage) {
  const TempFolder folder;
  const std::string path = folder.Write("a.pdf", ManyPages(12));
  const std::vector<PageImage> expected = OneByOne(path, 12);
  const RendererLog log;
  log.Write(
      "case \"$*\" in *'-f 5 '*-singlefile*) kill -SEGV $$;; *'-f 4 -l 7'*)\n"
      "  PATH=${PATH#*:}; pdftoppm -r 72 -cropbox -f 4 -l 4 -progress \"$9\"; kill -SEGV $$;;\n"
      "esac\n");
  const auto reader = DocumentReader::Open(path, Coarse());
  for (int i = 0; i < 12; ++i) {
    SCOPED_TRACE(i);
    if (i == 4) {
      EXPECT_THROW(reader->ReadPage(i), Error);
    } else {
      ExpectSame(reader->ReadPage(i), expected[static_cast<size_t>(i)]);
    }
  }
}

TEST(PdfRanges, NothingIsLeftWhereReadingStopsInTheMiddle) {
  const TempFolder folder;
  const RendererLog log;
  // The range of 8 to 15 has its first two pages and hangs.
  log.Write(
      "case \"$*\" in *'-l 15 '*)\n"
      "  PATH=${PATH#*:}; pdftoppm -r 72 -cropbox -f 8 -l 9 -progress \"$9\"; sleep 1000;;\n"
      "esac\n");
  auto reader = DocumentReader::Open(folder.Write("a.pdf", ManyPages(40)), Coarse());
  for (int i = 0; i < 9; ++i) reader->ReadPage(i);
  EXPECT_EQ(log.Calls().back(), "8-15");
  EXPECT_FALSE(NoChildrenLeft());
  EXPECT_EQ(NumNamelessFiles(), 1);
  reader.reset();
  EXPECT_EQ(NumNamelessFiles(), 0);
  EXPECT_TRUE(NoChildrenLeft());
}

TEST(PdfRanges, ManyThreadsGetTheSamePages) {
  const TempFolder folder;
  const std::string path = folder.Write("a.pdf", ManyPages(48, {20}));
  const std::vector<PageImage> expected = OneByOne(path, 48);
  const auto reader = DocumentReader::Open(path, Coarse());
  std::atomic<int> next = 0;
  std::atomic<int> num_right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      for (int i; (i = next++) < 48;) {
        const PageImage page = reader->ReadPage(i);
        num_right += page.image.rgb == expected[static_cast<size_t>(i)].image.rgb &&
                     page.warning == expected[static_cast<size_t>(i)].warning;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_right, 48);
  EXPECT_TRUE(NoChildrenLeft());
}

TEST(PdfRanges, ManyOpenDocumentsHoldFewProcesses) {
  const TempFolder folder;
  const std::string path = folder.Write("a.pdf", ManyPages(20));
  std::vector<std::unique_ptr<DocumentReader>> readers;
  for (int i = 0; i < 20; ++i) {
    readers.push_back(DocumentReader::Open(path, Coarse()));
    for (int page = 0; page < 9; ++page) readers.back()->ReadPage(page);
  }
  EXPECT_EQ(NumNamelessFiles(), 8);
  readers.clear();
  EXPECT_EQ(NumNamelessFiles(), 0);
}

TEST(PdfRanges, LargePagesAreRenderedAlone) {
  const TempFolder folder;
  const RendererLog log;
  ReadLimits limits;
  limits.pdf_dpi = 6600;  // 8342 x 8250 pixels and more
  const auto reader = DocumentReader::Open(folder.Write("a.pdf", ManyPages(3)), limits);
  for (int i = 0; i < 2; ++i) reader->ReadPage(i);
  EXPECT_EQ(log.Calls(), (Calls{"1-1", "2-2"}));
}

TEST(ReadAhead, GrowsWhilePagesGoOn) {
  ReadAhead ahead;
  int page = 1;
  for (const int expected : {1, 2, 4, 8, 16, 16}) {
    const int length = ahead.Next(page);
    EXPECT_EQ(length, expected);
    ahead.Started(page, length);
    page += length;
  }
  // The other way round, as two threads may ask.
  EXPECT_EQ(ahead.Next(page + 1), 16);
  ahead.Started(page + 1, 16);
  EXPECT_EQ(ahead.Next(page), 16);
  ahead.Started(page, 1);
  EXPECT_EQ(ahead.Next(page + 17), 16);
  ahead.Reset();
  EXPECT_EQ(ahead.Next(page + 18), 1);
  EXPECT_EQ(ahead.Next(1000), 1);
}

}  // namespace
}  // namespace platen
