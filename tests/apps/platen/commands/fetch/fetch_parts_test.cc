// Parts of platen fetch that need no server.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>

#include "apps/platen/commands/fetch/digest.h"
#include "apps/platen/commands/fetch/fetch_progress.h"
#include "apps/platen/commands/fetch/http_client.h"
#include "model/support/error.h"
#include "model/support/folder.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::TempFolder;

TEST(OriginOf, IsSchemeHostAndPort) {
  EXPECT_EQ(OriginOf("https://huggingface.co/a/b?c"), "https://huggingface.co:443");
  EXPECT_EQ(OriginOf("https://huggingface.co:443"), OriginOf("https://huggingface.co/x"));
  EXPECT_NE(OriginOf("https://huggingface.co:444"), OriginOf("https://huggingface.co"));
  EXPECT_NE(OriginOf("https://huggingface.co.example.org"), OriginOf("https://huggingface.co"));
  EXPECT_EQ(OriginOf("http://127.0.0.1:8080/x"), "http://127.0.0.1:8080");
  EXPECT_EQ(OriginOf("http://localhost/"), "http://localhost:80");
  EXPECT_EQ(OriginOf("http://[::1]:9/"), "http://[::1]:9");
}

TEST(OriginOf, RefusesWhatIsNotHttpsToElsewhere) {
  for (const std::string url :
       {"http://huggingface.co", "http://127.0.0.1.example.org", "http://127.example.org",
        "http://localhost.example.org", "ftp://127.0.0.1", "file:///etc/passwd", "/etc/passwd", "",
        "https://", "https://user@huggingface.co", "https://huggingface.co@example.org",
        "http://[::2]/", "https://a b"}) {
    EXPECT_THROW(OriginOf(url), Error) << url;
  }
}

TEST(DecimalBytes, HasThreeDigits) {
  EXPECT_EQ(DecimalBytes(0), "0 bytes");
  EXPECT_EQ(DecimalBytes(1), "1 byte");
  EXPECT_EQ(DecimalBytes(999), "999 bytes");
  EXPECT_EQ(DecimalBytes(1000), "1.00 kB");
  EXPECT_EQ(DecimalBytes(12'345), "12.3 kB");
  EXPECT_EQ(DecimalBytes(999'400), "999 kB");
  EXPECT_EQ(DecimalBytes(999'500), "1.00 MB");
  EXPECT_EQ(DecimalBytes(2'653'000'000), "2.65 GB");
  EXPECT_EQ(DecimalBytes(int64_t{1} << 44), "17.6 TB");
  EXPECT_EQ(DecimalBytes(int64_t{1} << 60), "1152922 TB");
}

TEST(FetchProgressText, SaysShareRateAndWhatIsLeft) {
  EXPECT_EQ(FetchProgressText(1'000'000'000, 2'000'000'000, 500'000'000, 10, "model.safetensors"),
            "[50 %] 1.00 GB of 2.00 GB, 50.0 MB/s, 20 s left, model.safetensors");
  EXPECT_EQ(FetchProgressText(0, 2000, 0, 1, "a"), "[ 0 %] 0 bytes of 2.00 kB, a");
  EXPECT_EQ(FetchProgressText(0, 0, 0, 0, "a"), "[100 %] 0 bytes of 0 bytes, a");
}

// `printf hello | sha256sum`, `printf hello | git hash-object --stdin`.
TEST(DigestOf, IsWhatTheUsualProgramsCompute) {
  const TempFolder folder;
  folder.Write("file", "hello");
  const UniqueFd fd =
      Folder::Open(folder.path(), Folder::Missing::kFail).OpenFile("file", O_RDONLY);
  const HubFile large = {.path = "file", .size = 5, .digest = {}, .is_large = true};
  const HubFile small = {.path = "file", .size = 5, .digest = {}, .is_large = false};
  EXPECT_EQ(DigestOf(large, fd.get(), "file"),
            "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
  EXPECT_EQ(DigestOf(small, fd.get(), "file"), "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0");
  EXPECT_STREQ(DigestName(large), "sha256");
  EXPECT_STREQ(DigestName(small), "git sha1");
}

}  // namespace
}  // namespace platen
