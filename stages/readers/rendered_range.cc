#include "stages/readers/rendered_range.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "model/support/nameless_file.h"
#include "stages/readers/poppler_output.h"

namespace platen {
namespace {

constexpr size_t kMaxSaidBytes = 4096;  // of standard error: a short line for every page
constexpr size_t kHeadBytes = 64;       // of an image, with its size
constexpr int kPollMilliseconds = 20;

// Out of the way of the standard streams, which may be closed.
UniqueFd OutputFile() {
  const UniqueFd file = OpenNamelessFile();
  return UniqueFd(fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

// Fewer at the end of the file, or where it cannot be read.
size_t ReadAt(int fd, size_t offset, std::span<uint8_t> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t n =
        pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

}  // namespace

RenderedRange::RenderedRange(std::vector<std::string> renderer, const std::string& file,
                             int first_page, std::vector<size_t> max_bytes,
                             const ChildLimits& limits_of_page)
    : first_page_(first_page),
      timeout_(limits_of_page.timeout_s),
      file_(OutputFile()),
      errors_(renderer[0]) {
  for (const size_t bytes : max_bytes) pages_.push_back({.max_bytes = bytes});
  renderer.insert(renderer.end(), {"-f", std::to_string(first_page), "-l",
                                   std::to_string(last_page()), "-progress", file});
  ChildLimits limits = limits_of_page;
  limits.timeout_s *= static_cast<double>(pages_.size());
  const size_t file_bytes = std::accumulate(max_bytes.begin(), max_bytes.end(), size_t{0});
  child_.emplace(renderer, limits, file_bytes, file_.get(), errors_.write_end());
  errors_.CloseWriteEnd();
  fcntl(errors_.read_end(), F_SETFL, O_NONBLOCK);
}

bool RenderedRange::Has(int page_number) const {
  const std::lock_guard lock(mutex_);
  return page_number >= first_page() && page_number <= last_page() &&
         !pages_[static_cast<size_t>(page_number - first_page_)].asked;
}

bool RenderedRange::IsOver() const {
  const std::lock_guard lock(mutex_);
  return failed_ || std::ranges::all_of(pages_, [](const Page& page) { return page.asked; });
}

std::optional<std::vector<uint8_t>> RenderedRange::Take(int page_number) {
  const auto index = static_cast<size_t>(page_number - first_page_);
  std::unique_lock lock(mutex_);
  pages_[index].asked = true;
  if (num_waiting_++ == 0) last_done_ = Clock::now();
  while (!failed_ && !IsDone(index)) {
    ReadErrors();
    LookAtPages();
    if (Clock::now() > last_done_ + timeout_) Fail();
    if (failed_ || IsDone(index)) break;
    // Others wait at the same time: for other pages, which may be done before. A stream that is
    // closed would not let anybody wait.
    pollfd errors = {errors_closed_ ? -1 : errors_.read_end(), POLLIN, 0};
    const int milliseconds = errors_closed_ ? 1 : kPollMilliseconds;
    lock.unlock();
    poll(&errors, 1, milliseconds);
    lock.lock();
  }
  --num_waiting_;
  return IsDone(index) ? ReadPage(pages_[index]) : std::nullopt;
}

// Takes what the process has said, and its end.
void RenderedRange::ReadErrors() {
  if (!child_) return;
  const bool has_ended = child_->Look() != RunningChild::State::kRuns;  // before reading the rest
  std::array<char, kMaxSaidBytes> buffer;
  ssize_t n = 0;
  while ((n = read(errors_.read_end(), buffer.data(), buffer.size())) > 0) {
    said_.append(buffer.data(), static_cast<size_t>(n));
    if (said_.size() > kMaxSaidBytes) return Fail();
  }
  errors_closed_ = n == 0;
  if (!has_ended) return;
  const int status = child_->KillAndReap();
  child_.reset();
  ended_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!ended_) Fail();
}

// A page is complete when the process has said so and its bytes have left the process, which the
// last of them do only with the next page or at the end.
void RenderedRange::LookAtPages() {
  if (failed_) return;
  const RenderProgress progress = ProgressOf(said_, first_page_);
  if (!progress.is_silent) return Fail();
  struct stat facts = {};
  if (fstat(file_.get(), &facts) != 0) return Fail();
  const auto num_bytes = static_cast<size_t>(facts.st_size);
  while (num_done_ < std::min(static_cast<size_t>(progress.num_done), pages_.size())) {
    Page& page = pages_[num_done_];
    if (num_done_ > 0) page.begin = pages_[num_done_ - 1].begin + pages_[num_done_ - 1].bytes;
    std::array<uint8_t, kHeadBytes> head;
    const size_t head_bytes = ReadAt(file_.get(), page.begin, head);
    page.bytes = PpmBytes({reinterpret_cast<const char*>(head.data()), head_bytes});
    if (page.bytes > page.max_bytes) return Fail();
    if (page.bytes == 0 || page.begin + page.bytes > num_bytes) break;
    ++num_done_;
    last_done_ = Clock::now();
  }
  if (ended_ && num_done_ < pages_.size()) Fail();
}

void RenderedRange::Fail() {
  failed_ = true;
  child_.reset();
  file_ = UniqueFd();
}

std::optional<std::vector<uint8_t>> RenderedRange::ReadPage(Page& page) {
  std::vector<uint8_t> bytes(page.bytes);
  if (ReadAt(file_.get(), page.begin, bytes) < bytes.size()) return std::nullopt;
  // Where the file system cannot, the space is free at the end.
  fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(page.begin),
            static_cast<off_t>(page.bytes));
  return bytes;
}

}  // namespace platen
