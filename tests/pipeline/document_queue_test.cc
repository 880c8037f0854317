// The graph between other ends than files: documents come from other threads while it runs, as a
// server's clients bring them, and go back to them.
#include "pipeline/document_queue.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <future>
#include <random>
#include <thread>

#include "pipeline/page_pipeline.h"
#include "tests/support/fake_pages.h"

namespace platen::testing {
namespace {

// What a client got back.
struct Answer {
  std::vector<PageResult> pages;
  std::string error;
  bool done = false;
  // Shared with the graph, which may still be about to return from set_value when get returns.
  std::shared_ptr<std::promise<void>> finished = std::make_shared<std::promise<void>>();
  void Wait() { finished->get_future().get(); }
  std::vector<int> page_numbers() const {
    std::vector<int> numbers;
    for (const PageResult& page : pages) numbers.push_back(page.page);
    return numbers;
  }
};

DocumentRequest RequestFor(const std::string& pages, Answer& answer) {
  DocumentRequest request;
  request.name = pages;
  request.open = [pages]() -> std::unique_ptr<DocumentReader> {
    if (pages == "!") throw Error(ErrorKind::kInput, {"", ""}, "not a document");
    return std::make_unique<FakeReader>(pages, [] {});
  };
  request.on_page = [&answer](PageResult page) { answer.pages.push_back(std::move(page)); };
  request.on_done = [&answer, finished = answer.finished](const std::string& error) {
    answer.error = error;
    answer.done = true;
    finished->set_value();
  };
  return request;
}

// A graph that serves a queue on a thread of its own until the queue is closed.
class Server {
 public:
  explicit Server(int threads = 2, FakeRecognizer::Options fake = {})
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads)),
        recognizer_(fake) {
    options_.threads = threads;
    options_.slots = 3;
    options_.patch_budget = 300;
    options_.row_budget = 90;
    options_.reading.granularity = Granularity::kLine;
    tools_.segment = FakeSegment;
    tools_.crop = [this](const Image& page, const PageLayout& layout, const ReadingConfig&,
                         const ReadOptions& read) {
      const std::lock_guard lock(mutex_);
      seen_heights.push_back(read.text_height);
      return FakeCrops(page, layout);
    };
  }
  ~Server() {
    if (thread_.joinable()) Stop();
  }

  void Start() {
    thread_ = std::thread([this] {
      try {
        RunPages(options_, tools_, recognizer_, telemetry_, counters_, queue, queue);
      } catch (...) {
        failure = std::current_exception();
      }
    });
  }
  void Stop() {
    queue.Close();
    thread_.join();
  }

  DocumentQueue queue;
  std::vector<double> seen_heights;
  std::exception_ptr failure;

 private:
  std::mutex mutex_;
  tbb::global_control limit_;
  FakeRecognizer recognizer_;
  PipelineOptions options_;
  PageTools tools_;
  Telemetry telemetry_;
  ProgressCounters counters_;
  std::thread thread_;
};

std::string TextOf(const PageResult& page) {
  std::string text;
  for (const RegionResult& region : page.regions) text += region.text + "\n";
  return text;
}

TEST(DocumentQueue, ADocumentHandedInWhileTheGraphWaitsIsReadAtOnce) {
  for (const int threads : {1, 2, 3}) {
    Server server(threads);
    server.Start();
    for (int round = 0; round < 20; ++round) {
      Answer answer;
      server.queue.Submit(RequestFor("ppfb", answer));
      answer.Wait();  // the graph has nothing else to do before and after
      EXPECT_EQ(answer.page_numbers(), (std::vector<int>{1, 2, 3, 4}));
      EXPECT_EQ(answer.error, "");
      EXPECT_EQ(answer.pages[2].error, "cannot be decoded");
      EXPECT_NE(TextOf(answer.pages[1]), "");
      EXPECT_TRUE(answer.pages[3].regions.empty());
    }
    server.Stop();
    EXPECT_FALSE(server.failure);
  }
}

TEST(DocumentQueue, ManyClientsGetTheirOwnPagesInOrder) {
  FakeRecognizer::Options fake;
  fake.cache_blocks = 20;
  fake.max_delay_us = 50;
  Server server(3, fake);
  server.Start();
  constexpr int kClients = 6, kDocuments = 25;
  std::vector<std::thread> clients;
  for (int client = 0; client < kClients; ++client) {
    clients.emplace_back([&server, client] {
      std::mt19937 random(static_cast<uint32_t>(client));
      for (int i = 0; i < kDocuments; ++i) {
        std::string pages;
        for (size_t n = random() % 9; n > 0; --n) pages += "pbfE"[random() % 4];
        Answer answer;
        server.queue.Submit(RequestFor(pages, answer));
        answer.Wait();
        ASSERT_EQ(answer.pages.size(), pages.size());
        for (size_t n = 0; n < pages.size(); ++n) {
          ASSERT_EQ(answer.pages[n].page, static_cast<int>(n) + 1);
          ASSERT_EQ(answer.pages[n].error.empty(), pages[n] != 'f');
        }
        if (!pages.empty()) continue;
        ASSERT_EQ(answer.error, "has no page of the chosen range; it has 0");
      }
    });
  }
  for (std::thread& client : clients) client.join();
  server.Stop();
  EXPECT_FALSE(server.failure);
}

// One thread: with more, how many pages of the long one go by depends on which thread is put aside.
TEST(DocumentQueue, AShortDocumentOvertakesALongOne) {
  Server server(1);
  Answer first, second;
  server.queue.Submit(RequestFor(std::string(60, 'p'), first));
  DocumentRequest request = RequestFor("p", second);
  size_t pages_before = 0;
  request.on_done = [&](const std::string&) { pages_before = first.pages.size(); };
  server.queue.Submit(std::move(request));
  server.Start();
  server.Stop();
  EXPECT_LT(pages_before, 10U);
  EXPECT_EQ(first.pages.size(), 60U);
}

TEST(DocumentQueue, EveryRequestHasItsOwnOptionsAndPages) {
  Server server(1);
  Answer first, second;
  DocumentRequest request = RequestFor("ppppp", first);
  request.read.text_height = 11;
  request.pages = {{2, 3}};
  server.queue.Submit(std::move(request));
  request = RequestFor("p", second);
  request.read.text_height = 22;
  server.queue.Submit(std::move(request));
  server.Start();
  server.Stop();
  EXPECT_EQ(first.page_numbers(), (std::vector<int>{2, 3}));
  std::sort(server.seen_heights.begin(), server.seen_heights.end());
  EXPECT_EQ(server.seen_heights, (std::vector<double>{11, 11, 22}));
}

TEST(DocumentQueue, ADocumentThatCannotBeOpenedSaysWhy) {
  Server server;
  Answer broken, sound;
  server.queue.Submit(RequestFor("!", broken));
  server.queue.Submit(RequestFor("p", sound));
  server.Start();
  server.Stop();
  EXPECT_EQ(broken.error, "not a document");
  EXPECT_TRUE(broken.pages.empty());
  EXPECT_EQ(sound.pages.size(), 1U);
}

TEST(DocumentQueue, ACancelledDocumentEndsEarlyAndTheOthersGoOn) {
  Server server;
  Answer cancelled, sound, never;
  const RequestId id = server.queue.Submit(RequestFor(std::string(500, 'p'), cancelled));
  server.queue.Submit(RequestFor("pp", sound));
  const RequestId unread = server.queue.Submit(RequestFor("pp", never));
  server.queue.Cancel(unread);
  server.Start();
  sound.Wait();
  server.queue.Cancel(id);
  cancelled.Wait();
  server.queue.Cancel(id);  // done: nothing happens
  server.queue.Cancel(static_cast<RequestId>(77));
  server.Stop();
  EXPECT_EQ(cancelled.error, "cancelled");
  EXPECT_LT(cancelled.pages.size(), 500U);
  EXPECT_EQ(never.error, "cancelled");
  EXPECT_TRUE(never.pages.empty());
  EXPECT_EQ(sound.pages.size(), 2U);
}

TEST(DocumentQueue, NothingIsTakenOnceItIsClosed) {
  DocumentQueue queue;
  queue.Close();
  Answer answer;
  EXPECT_THROW(queue.Submit(RequestFor("p", answer)), std::logic_error);
}

TEST(DocumentQueue, AMachineThatFailsEndsTheGraphWithItsReason) {
  Server server;
  Answer answer;
  server.queue.Submit(RequestFor("pSp", answer));
  server.Start();
  server.Stop();
  EXPECT_TRUE(server.failure);
  EXPECT_FALSE(answer.done);
}

TEST(Doorbell, RingsAreNeverLostBetweenWorkAndSleep) {
  Doorbell bell;
  std::atomic<int> wakes = 0;
  bell.Attach([&] { ++wakes; });
  bell.Ring();
  EXPECT_EQ(wakes, 1);
  bell.Detach();
  bell.Ring();
  bell.Ring();
  bell.Wait();  // at once
  EXPECT_EQ(wakes, 1);
  std::thread ringer([&] { bell.Ring(); });
  bell.Wait();
  ringer.join();
}

}  // namespace
}  // namespace platen::testing
