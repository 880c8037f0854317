// The library as its users have it: its headers and the shared library, nothing else of platen.
#include <gtest/gtest.h>
#include <platen/platen.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

#ifdef __SANITIZE_THREAD__
#include <opencv2/core/utility.hpp>
#endif

namespace {

// ThreadSanitizer cannot see how OpenCV's own threads synchronise. The library leaves them as they
// are, because they belong to its process.
#ifdef __SANITIZE_THREAD__
const bool kOneOpenCvThread = (cv::setNumThreads(1), true);
#endif

using platen::Document;
using platen::Exception;
using platen::Format;
using platen::Input;

std::string Source(const std::string& path) { return std::string(PLATEN_SOURCE_DIR) + "/" + path; }
std::string Sample(const std::string& name) { return Source("assets/samples/" + name); }

std::vector<std::uint8_t> BytesOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// One for all tests: loading takes longer than reading.
platen::Reader& SharedReader() {
  static auto* reader = new platen::Reader({.threads = 2});
  return *reader;
}

Exception::Cause CauseOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Exception& e) {
    EXPECT_STRNE(e.what(), "");
    return e.cause();
  }
  ADD_FAILURE() << "nothing was thrown";
  return Exception::Cause::kUsage;
}

TEST(Library, SaysItsVersion) {
  std::ostringstream expected;
  expected << PLATEN_VERSION_MAJOR << "." << PLATEN_VERSION_MINOR << "." << PLATEN_VERSION_PATCH;
  EXPECT_EQ(platen::Version(), expected.str());
}

TEST(Library, ReadsAPageWithLinesAndWords) {
  const Document document = SharedReader().Read(Input::File(Sample("synthetic/invoice-150.png")));
  ASSERT_EQ(document.pages().size(), 1U);
  const platen::Page& page = document.pages()[0];
  EXPECT_EQ(page.error, "");
  EXPECT_EQ(page.number, 1);
  EXPECT_GT(page.width, 1000);
  std::set<std::string> kinds;
  size_t words = 0;
  for (const platen::Region& region : page.regions) {
    kinds.insert(region.kind);
    EXPECT_EQ(region.syntax, "plain");
    for (const platen::Line& line : region.lines) {
      EXPECT_GT(line.baseline[1].x, line.baseline[0].x);
      std::string joined;
      double right =
          line.quad[0].x - 20;  // the quad of the pieces and that of the line differ a little
      for (const platen::Word& word : line.words) {
        joined += (joined.empty() ? "" : " ") + word.text;
        EXPECT_GE(word.quad[0].x, right - 1);
        right = word.quad[1].x;
        EXPECT_GE(word.confidence, line.min_confidence - 1e-9);
      }
      EXPECT_EQ(joined, line.text);
      words += line.words.size();
    }
  }
  EXPECT_GT(words, 50U);
  EXPECT_TRUE(kinds.contains("text"));
  EXPECT_TRUE(kinds.contains("table"));
}

TEST(Library, TheSamePageAsFileBytesAndPixels) {
  const Document file = SharedReader().Read(Input::File(Sample("pages/phototest.tif")));
  const Document bytes = SharedReader().Read(Input::Bytes(BytesOf(Sample("pages/phototest.tif"))));
  EXPECT_NE(file.As(Format::kText).find("quick brown"), std::string::npos);
  EXPECT_EQ(file.As(Format::kText), bytes.As(Format::kText));
  EXPECT_EQ(file.pages()[0].dpi_x, bytes.pages()[0].dpi_x);
  const Document blank = SharedReader().Read(
      Input::Pixels(std::vector<std::uint8_t>(400 * 300 * 3, 255), 400, 300, 150));
  ASSERT_EQ(blank.pages().size(), 1U);
  EXPECT_TRUE(blank.pages()[0].regions.empty());
  EXPECT_EQ(blank.pages()[0].dpi_y, 150);
  EXPECT_TRUE(blank.pages()[0].doubts.empty());
}

TEST(Library, ManyThreadsShareAReaderAndGetTheSameText) {
  const std::vector<std::string> names = {"pages/phototest.tif", "synthetic/receipt-200.png",
                                          "pages/lucasta_p25.jpg"};
  std::vector<std::string> alone, together(3 * names.size());
  for (const std::string& name : names) {
    alone.push_back(SharedReader().Read(Input::File(Sample(name))).As(Format::kText));
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i < together.size(); ++i) {
    threads.emplace_back([&, i] {
      const std::string path = Sample(names[i % names.size()]);
      together[i] = SharedReader().Read(Input::File(path)).As(Format::kText);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < together.size(); ++i) EXPECT_EQ(together[i], alone[i % names.size()]);
}

TEST(Library, PagesArriveInOrderWhileADocumentIsRead) {
  std::vector<int> numbers;
  platen::DocumentOptions options;
  options.name = "three pages";
  platen::Ticket ticket =
      SharedReader().Submit(Input::File(Source("tests/data/images/three_pages.tif")), options,
                            [&](const platen::Page& page) { numbers.push_back(page.number); });
  const Document document = ticket.document.get();
  ASSERT_GT(document.pages().size(), 1U);
  ASSERT_EQ(numbers.size(), document.pages().size());
  for (size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], static_cast<int>(i) + 1);
  EXPECT_NE(document.As(Format::kJson).find("three pages"), std::string::npos);
  options.pages = {2};
  const Document second =
      SharedReader().Read(Input::File(Source("tests/data/images/three_pages.tif")), options);
  ASSERT_EQ(second.pages().size(), 1U);
  EXPECT_EQ(second.pages()[0].number, 2);
}

TEST(Library, WhatTheCallersFunctionThrowsComesOutOfItsTicketAlone) {
  platen::Ticket broken =
      SharedReader().Submit(Input::File(Source("tests/data/images/three_pages.tif")), {},
                            [](const platen::Page&) { throw std::domain_error("mine"); });
  EXPECT_THROW(broken.document.get(), std::domain_error);
  EXPECT_NE(SharedReader().Read(Input::File(Sample("pages/phototest.tif"))).As(Format::kText), "");
}

TEST(Library, WhatCannotBeReadSaysWhy) {
  EXPECT_EQ(CauseOf([] { SharedReader().Read(Input::File("no such file")); }),
            Exception::Cause::kInput);
  EXPECT_EQ(CauseOf([] {
              SharedReader().Read(Input::Bytes({1, 2, 3}));
            }),
            Exception::Cause::kInput);
  EXPECT_EQ(CauseOf([] { Input::File(""); }), Exception::Cause::kUsage);
  EXPECT_EQ(CauseOf([] { Input::Pixels({}, 0, 5); }), Exception::Cause::kUsage);
  EXPECT_EQ(CauseOf([] {
              SharedReader().Read(Input::Pixels({1, 2, 3}, 2, 2));
            }),
            Exception::Cause::kInput);
  EXPECT_EQ(CauseOf([] { platen::Reader({.model = "no such folder"}); }), Exception::Cause::kModel);
  EXPECT_EQ(CauseOf([] { platen::Reader({.threads = -1}); }), Exception::Cause::kUsage);
  const auto read_with = [](const platen::DocumentOptions& options) {
    return CauseOf(
        [&] { SharedReader().Read(Input::File(Sample("pages/phototest.tif")), options); });
  };
  EXPECT_EQ(read_with({.task = "poem"}), Exception::Cause::kUsage);
  EXPECT_EQ(read_with({.pages = {0}}), Exception::Cause::kUsage);
  EXPECT_EQ(read_with({.pages = {9}}), Exception::Cause::kInput);
  EXPECT_EQ(read_with({.pdf_dpi = -1}), Exception::Cause::kUsage);
}

TEST(Library, ACancelledDocumentAndOneOfAReaderThatEndsAreNotLost) {
  platen::Ticket left;
  {
    platen::Reader reader({.threads = 1});
    std::vector<platen::Ticket> tickets;
    for (int i = 0; i < 12; ++i) {
      tickets.push_back(reader.Submit(Input::File(Sample("pages/phototest.tif"))));
    }
    reader.Cancel(tickets.back().id);
    EXPECT_EQ(CauseOf([&] { tickets.back().document.get(); }), Exception::Cause::kInput);
    left = std::move(tickets[10]);
  }
  EXPECT_EQ(CauseOf([&] { left.document.get(); }), Exception::Cause::kInput);
}

TEST(Library, AnEmptyDocumentIsAValue) {
  const Document none;
  EXPECT_TRUE(none.pages().empty());
  EXPECT_EQ(none.As(Format::kText), "");
  const Document copy = none;
  EXPECT_EQ(copy.As(Format::kMarkdown), "");
}

}  // namespace
