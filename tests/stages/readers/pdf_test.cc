// PDF pages and the child processes that render them. Programs that misbehave are small scripts
// under the names of poppler's, first on PATH.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "model/support/error.h"
#include "stages/readers/child_process.h"
#include "stages/readers/document_reader.h"
#include "tests/support/fake_programs.h"
#include "tests/support/npy.h"
#include "tests/support/temp_files.h"

namespace platen {
namespace {

using std::literals::operator""s;
using ::platen::testing::Bytes;
using ::platen::testing::FakePrograms;
using ::platen::testing::NoChildrenLeft;
using ::platen::testing::ReadBytes;
using ::platen::testing::SourcePath;
using ::platen::testing::TempFolder;

const std::string kSamples = SourcePath("tests/data/images/");

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string ErrorOf(const std::string& path, const ReadLimits& limits = {},
                    ErrorKind kind = ErrorKind::kInput) {
  try {
    const auto reader = DocumentReader::Open(path, limits);
    for (int i = 0; i < reader->num_pages(); ++i) reader->ReadPage(i);
  } catch (const Error& error) {
    EXPECT_TRUE(Contains(error.what(), path)) << error.what();
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "";
}

// The share of pixels of one colour.
double Share(const Image& image, std::array<uint8_t, 3> colour) {
  size_t count = 0;
  for (size_t i = 0; i < image.rgb.size(); i += 3) {
    count += std::equal(colour.begin(), colour.end(), image.rgb.begin() + static_cast<long>(i));
  }
  return static_cast<double>(count) / (static_cast<double>(image.width) * image.height);
}

TEST(Pdf, PagesAreRenderedAtTheAskedResolution) {
  ReadLimits limits;
  limits.pdf_dpi = 144;
  const auto reader = DocumentReader::Open(kSamples + "two_pages.pdf", limits);
  EXPECT_EQ(reader->format(), DocumentFormat::kPdf);
  ASSERT_EQ(reader->num_pages(), 2);
  const PageImage first = reader->ReadPage(0);
  EXPECT_EQ(first.image.width, 144);
  EXPECT_EQ(first.image.height, 72);
  EXPECT_EQ(first.dpi_x, 144);
  EXPECT_EQ(first.dpi_y, 144);
  EXPECT_EQ(first.warning, "");
  EXPECT_NEAR(Share(first.image, {255, 0, 0}), 0.5, 0.02);
  EXPECT_NEAR(Share(first.image, {255, 255, 255}), 0.5, 0.02);
}

TEST(Pdf, PagesAreCroppedAndTurnedAsTheySay) {
  ReadLimits limits;
  limits.pdf_dpi = 72;
  const PageImage page = DocumentReader::Open(kSamples + "two_pages.pdf", limits)->ReadPage(1);
  // The crop box is 36 x 72 points, turned by 90 degrees: what was at its lower end is now left.
  EXPECT_EQ(page.image.width, 72);
  EXPECT_EQ(page.image.height, 36);
  EXPECT_NEAR(Share(page.image, {0, 0, 255}), 0.5, 0.02);
  EXPECT_EQ(page.image.Row(18)[3 * 5], 0);
  EXPECT_EQ(page.image.Row(18)[3 * 66], 255);
}

TEST(Pdf, AnEncryptedFileNeedsAPasswordUnlessItOpensWithoutOne) {
  EXPECT_TRUE(Contains(ErrorOf(kSamples + "encrypted.pdf"), "is encrypted and needs a password"));
  EXPECT_EQ(ErrorOf(kSamples + "owner_password.pdf"), "");
}

TEST(Pdf, PasswordsAreTriedInTurn) {
  ReadLimits limits;
  limits.pdf_passwords = {"wrong", "secret"};
  const auto opened = DocumentReader::Open(kSamples + "encrypted.pdf", limits);
  EXPECT_EQ(opened->num_pages(), 2);
  const Image expected = DocumentReader::Open(kSamples + "two_pages.pdf", {})->ReadPage(1).image;
  EXPECT_TRUE(opened->ReadPage(1).image.rgb == expected.rgb);
  EXPECT_EQ(DocumentReader::Open(kSamples + "two_pages.pdf", limits)->num_pages(), 2);
  limits.pdf_passwords = {"wrong"};
  try {
    DocumentReader::Open(kSamples + "encrypted.pdf", limits);
    FAIL();
  } catch (const Error& e) {
    EXPECT_TRUE(Contains(e.what(), "opens with none of the passwords given")) << e.what();
  }
}

TEST(Pdf, BrokenFilesGiveAReason) {
  const TempFolder folder;
  const std::string error = ErrorOf(folder.Write("a.pdf", "%PDF-1.4\nnothing else"));
  EXPECT_TRUE(
      error.ends_with("a.pdf: not a readable PDF (poppler: Couldn't find trailer "
                      "dictionary)"))
      << error;
  const Bytes whole = ReadBytes(kSamples + "two_pages.pdf");
  for (size_t size = 10; size < whole.size(); size += whole.size() / 5) {
    // Any outcome but a foreign exception; poppler repairs some.
    ErrorOf(folder.Write("cut.pdf", std::span(whole).first(size)));
  }
  EXPECT_TRUE(NoChildrenLeft());
}

TEST(Pdf, NamesThatLookLikeOptionsOrStandardInputAreFiles) {
  const TempFolder folder;
  const auto old_folder = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const char* name : {"-v", "-", "--help", "a b\n%d $(touch x);\"'", "fd:0"}) {
    SCOPED_TRACE(name);
    folder.Write(name, ReadBytes(kSamples + "two_pages.pdf"));
    EXPECT_EQ(ErrorOf(name), "");
  }
  EXPECT_FALSE(std::filesystem::exists("x"));
  std::filesystem::current_path(old_folder);
}

TEST(Pdf, HugePagesAreRefusedBeforeTheyAreRendered) {
  ReadLimits limits;
  limits.pdf_dpi = 1'000'000;
  const std::string error = ErrorOf(kSamples + "two_pages.pdf", limits);
  EXPECT_TRUE(Contains(error, "page 1: the image is too large (1000000x500000 pixels")) << error;
}

TEST(Pdf, PdfinfoIsAskedOnceForManyPages) {
  const FakePrograms programs;
  const std::string log = programs.folder().path() + "/log";
  // The real one is the next on PATH.
  programs.Write("pdfinfo", "echo \"$*\" >> " + log + "; PATH=${PATH#*:} exec pdfinfo \"$@\"\n");
  const auto reader = DocumentReader::Open(kSamples + "two_pages.pdf", {});
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_GT(reader->PageSize(i).width, 0);
      reader->ReadPage(i);
    }
  }
  const Bytes calls = ReadBytes(log);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 2);  // the pages' number, their sizes
}

TEST(Pdf, APageThatBreaksPdfinfoDoesNotHarmOthers) {
  const FakePrograms programs;
  programs.Write("pdfinfo",
                 "case \"$*\" in *'-l 2 '*) exit 7;; esac; PATH=${PATH#*:} exec pdfinfo \"$@\"\n");
  const auto reader = DocumentReader::Open(kSamples + "two_pages.pdf", {});
  EXPECT_EQ(reader->PageSize(0).width, 200);
  try {
    reader->PageSize(1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(Contains(error.what(), "page 2: not a readable PDF (pdfinfo failed with exit"));
  }
}

TEST(Pdf, TooManyPagesAreRefused) {
  ReadLimits limits;
  limits.max_pages = 1;
  EXPECT_TRUE(Contains(ErrorOf(kSamples + "two_pages.pdf", limits), "more than 1 pages"));
}

TEST(Pdf, MissingProgramsAreNamedWithTheirPackage) {
  const std::string old_path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const std::string error = ErrorOf(kSamples + "two_pages.pdf", {}, ErrorKind::kEnvironment);
  setenv("PATH", old_path.c_str(), 1);
  EXPECT_TRUE(Contains(error, "install poppler-utils")) << error;
}

TEST(Pdf, ManyThreadsReadAtOnce) {
  const auto reader = DocumentReader::Open(kSamples + "two_pages.pdf", {});
  const Image expected = reader->ReadPage(0).image;
  std::atomic<int> num_equal = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) num_equal += reader->ReadPage(0).image.rgb == expected.rgb;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_equal, 18);
  EXPECT_TRUE(NoChildrenLeft());
}

TEST(Pdf, ARendererThatHangsIsEnded) {
  const FakePrograms programs;
  programs.Write("pdftoppm", "sleep 1000\n");
  ReadLimits limits;
  limits.pdf_page_timeout_s = 0.3;
  const std::string error = ErrorOf(kSamples + "two_pages.pdf", limits);
  EXPECT_TRUE(Contains(error, "page 1: pdftoppm took longer than 1 s")) << error;
  EXPECT_TRUE(NoChildrenLeft());
}

TEST(Pdf, ARendererThatWritesTooMuchIsEnded) {
  const FakePrograms programs;
  programs.Write("pdftoppm", "exec cat /dev/zero\n");
  EXPECT_TRUE(Contains(ErrorOf(kSamples + "two_pages.pdf"), "wrote more than expected"));
  EXPECT_TRUE(NoChildrenLeft());
}

TEST(Pdf, ARendererThatCrashesOrTalksNonsenseGivesAReason) {
  const FakePrograms programs;
  programs.Write("pdftoppm", "kill -SEGV $$\n");
  EXPECT_TRUE(Contains(ErrorOf(kSamples + "two_pages.pdf"), "died of signal 11"));
  programs.Write("pdftoppm", "echo what a mess >&2; echo more >&2; exit 7\n");
  EXPECT_TRUE(Contains(ErrorOf(kSamples + "two_pages.pdf"),
                       "page 1: cannot be rendered (poppler: what a mess)"));
  programs.Write("pdftoppm", "exit 7\n");
  EXPECT_TRUE(Contains(ErrorOf(kSamples + "two_pages.pdf"), "failed with exit code 7"));
  programs.Write("pdftoppm", "echo nothing of use\n");
  EXPECT_TRUE(Contains(ErrorOf(kSamples + "two_pages.pdf"), "page 1: cannot be rendered"));
  programs.Write("pdftoppm", "echo P6 4 4 255; echo x\n");
  EXPECT_TRUE(Contains(ErrorOf(kSamples + "two_pages.pdf"),
                       "page 1: cannot be rendered (pdftoppm's image: cut "));
  programs.Write("pdfinfo", "echo Pages: none\n");
  EXPECT_TRUE(Contains(ErrorOf(kSamples + "two_pages.pdf"), "there are no pages"));
}

TEST(Pdf, ATitleCannotPassForTheNumberOfPages) {
  const FakePrograms programs;
  programs.Write("pdfinfo", "printf 'Title: x\\nPages: 900\\nPages:           3\\n'\n");
  EXPECT_EQ(DocumentReader::Open(kSamples + "two_pages.pdf", {})->num_pages(), 3);
}

TEST(ChildProcess, OutputAndErrorsAndTheExitCodeAreCaptured) {
  const ChildResult result = RunChild({"sh", "-c", "echo out; echo err >&2; exit 3"},
                                      {.memory_bytes = 1 << 30, .max_output_bytes = 100});
  EXPECT_EQ(result.end, ChildResult::End::kExited);
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(std::string(result.output.begin(), result.output.end()), "out\n");
  EXPECT_EQ(result.errors, "err\n");
}

TEST(ChildProcess, TheLimitOnOutputIsExact) {
  const std::vector<std::string> program = {"sh", "-c", "printf 12345"};
  EXPECT_EQ(RunChild(program, {.memory_bytes = 1 << 30, .max_output_bytes = 5}).output.size(), 5U);
  EXPECT_EQ(RunChild(program, {.memory_bytes = 1 << 30, .max_output_bytes = 4}).end,
            ChildResult::End::kTooMuchOutput);
}

TEST(ChildProcess, StandardInputIsEmptyAndNothingElseIsInherited) {
  const int leaked = dup(STDOUT_FILENO);  // without close-on-exec
  const ChildResult result = RunChild({"sh", "-c", "cat; ls /proc/self/fd | wc -l"},
                                      {.memory_bytes = 1 << 30, .max_output_bytes = 100});
  close(leaked);
  // The three standard ones, and the folder that ls reads.
  EXPECT_EQ(std::string(result.output.begin(), result.output.end()), "4\n");
}

TEST(ChildProcess, MemoryIsLimited) {
  const ChildResult result =
      RunChild({"sh", "-c", "ulimit -v; ulimit -t; ulimit -c"},
               {.timeout_s = 6.5, .memory_bytes = 64 << 20, .max_output_bytes = 100});
  EXPECT_EQ(std::string(result.output.begin(), result.output.end()), "65536\n8\n0\n");
}

TEST(ChildProcess, StricterLimitsOfOursStay) {
  const pid_t parent = fork();
  if (parent == 0) {
    const rlimit limit = {900, 900};
    setrlimit(RLIMIT_CPU, &limit);
    const ChildResult result =
        RunChild({"sh", "-c", "ulimit -t"},
                 {.timeout_s = 2000, .memory_bytes = 1 << 30, .max_output_bytes = 100});
    _exit(std::string(result.output.begin(), result.output.end()) == "900\n" ? 0 : 1);
  }
  int status = -1;
  waitpid(parent, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(ChildProcess, GrandchildrenAreEndedAndDoNotDelayTheResult) {
  const TempFolder folder;
  const std::string id_file = folder.path() + "/id";
  const ChildResult result =
      RunChild({"sh", "-c", "sleep 1000 & echo $! > " + id_file + "; echo done"},
               {.timeout_s = 300, .memory_bytes = 1 << 30, .max_output_bytes = 100});
  EXPECT_EQ(result.end, ChildResult::End::kExited);
  EXPECT_EQ(std::string(result.output.begin(), result.output.end()), "done\n");
  pid_t grandchild = 0;
  std::ifstream(id_file) >> grandchild;
  ASSERT_GT(grandchild, 0);
  // Killed; init may take a moment to reap it. Its state is Z or it is gone.
  for (int i = 0; i < 1000 && kill(grandchild, 0) == 0; ++i) {
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    std::string id, name, state;
    stat >> id >> name >> state;
    if (state == "Z") break;
    ASSERT_LT(i, 999) << "the grandchild still runs";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// The process whose first and second argument are these; 0 if there is none.
pid_t FindProcess(const std::string& program, const std::string& argument) {
  const std::string start = program + '\0' + argument + '\0';
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    const std::string line{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (line.starts_with(start)) return std::stoi(name);
  }
  return 0;
}

TEST(ChildProcess, NoChildOutlivesAKilledParent) {
  const std::string seconds = "1000." + std::to_string(getpid());  // no other process has it
  const pid_t parent = fork();
  if (parent == 0) {
    RunChild({"sleep", seconds}, {.timeout_s = 300, .memory_bytes = 1 << 30});
    _exit(0);
  }
  const auto wait_for = [&](bool runs) {
    for (int i = 0; i < 200 && (FindProcess("sleep", seconds) != 0) != runs; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return FindProcess("sleep", seconds);
  };
  ASSERT_GT(wait_for(true), 0);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  const pid_t left = wait_for(false);
  EXPECT_EQ(left, 0);
  if (left > 0) kill(left, SIGKILL);
}

TEST(ChildProcess, WorksWhereSigchldIsIgnored) {
  const auto old_handler = signal(SIGCHLD, SIG_IGN);  // as some schedulers leave it
  const ChildResult result = RunChild({"sh", "-c", "sleep 0.1; echo late"},
                                      {.memory_bytes = 1 << 30, .max_output_bytes = 100});
  signal(SIGCHLD, old_handler);
  EXPECT_EQ(result.end, ChildResult::End::kExited);
  EXPECT_EQ(std::string(result.output.begin(), result.output.end()), "late\n");
}

TEST(ChildProcess, SignalsAreAsAProgramExpectsThem) {
  signal(SIGPIPE, SIG_IGN);
  sigset_t blocked, before, after;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const ChildResult result =
      RunChild({"cat", "/proc/self/status"}, {.memory_bytes = 1 << 30, .max_output_bytes = 10000});
  pthread_sigmask(SIG_SETMASK, &before, &after);
  signal(SIGPIPE, SIG_DFL);
  std::istringstream status(std::string(result.output.begin(), result.output.end()));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigBlk") && !line.starts_with("SigIgn")) continue;
    const uint64_t signals = std::stoull(line.substr(7), nullptr, 16);
    EXPECT_EQ(signals & 0x7FFFFFFF, 0U) << line;  // those above are the C library's
  }
  EXPECT_EQ(sigismember(&after, SIGTERM), 1);  // ours are as they were
  EXPECT_EQ(sigismember(&after, SIGINT), 0);
}

TEST(ChildProcess, WorksWhereStandardStreamsAreClosed) {
  const pid_t parent = fork();
  if (parent == 0) {
    for (int fd = 0; fd < 3; ++fd) close(fd);
    const ChildResult result = RunChild({"sh", "-c", "cat; echo out; echo err >&2"},
                                        {.memory_bytes = 1 << 30, .max_output_bytes = 100});
    const std::string output(result.output.begin(), result.output.end());
    _exit(output == "out\n" && result.errors == "err\n" ? 0 : 1);
  }
  int status = -1;
  waitpid(parent, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(ChildProcess, ManyThreadsStartProgramsAtOnce) {
  std::atomic<int> num_right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&num_right, t] {
      for (int i = 0; i < 25; ++i) {
        const std::string number = std::to_string(100 * t + i);
        const ChildResult result =
            RunChild({"echo", number}, {.memory_bytes = 1 << 30, .max_output_bytes = 100});
        num_right += std::string(result.output.begin(), result.output.end()) == number + "\n";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_right, 200);
  EXPECT_TRUE(NoChildrenLeft());
}

TEST(ChildProcess, AFileThatCannotBeRunIsAnError) {
  const FakePrograms programs;
  programs.folder().Write("not-executable", "#!/bin/sh\n");
  for (const std::string& program :
       {"not-executable"s, programs.folder().path() + "/not-executable", "/dev"s, ""s}) {
    EXPECT_THROW(RunChild({program}, {.memory_bytes = 1 << 30}), Error) << program;
  }
  EXPECT_TRUE(NoChildrenLeft());
}

TEST(ChildProcess, AProgramThatIsNotThereIsAnErrorOfTheEnvironment) {
  try {
    RunChild({"no-such-program-anywhere"}, {.memory_bytes = 1 << 30, .max_output_bytes = 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_TRUE(Contains(error.what(), "no-such-program-anywhere: cannot be started"));
  }
}

}  // namespace
}  // namespace platen
