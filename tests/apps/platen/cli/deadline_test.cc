#include "apps/platen/cli/deadline.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "model/support/error.h"

namespace platen {
namespace {

using std::chrono::system_clock;

// Seconds since 1970 in Berlin, whose clock changes.
class DeadlineTest : public ::testing::Test {
 protected:
  DeadlineTest() {
    ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    ::tzset();
  }
  ~DeadlineTest() override {
    ::unsetenv("TZ");
    ::tzset();
  }
  static std::time_t Next(const std::string& text, std::time_t now) {
    return system_clock::to_time_t(ParseDeadline(text, system_clock::from_time_t(now)));
  }
};

constexpr std::time_t kHour = 3600, kDay = 24 * kHour;
constexpr std::time_t kNoon = 1795777200;  // 2026-11-27 12:00 in Berlin

TEST_F(DeadlineTest, ATimeOfDayIsTheNextOne) {
  EXPECT_EQ(Next("13:30", kNoon), kNoon + kHour * 3 / 2);
  EXPECT_EQ(Next("06:00", kNoon), kNoon + 18 * kHour);
  EXPECT_EQ(Next("12:00", kNoon), kNoon + kDay) << "now is over";
}

TEST_F(DeadlineTest, ADayHasItsOwnTime) {
  EXPECT_EQ(Next("2026-11-28 12:00", kNoon), kNoon + kDay);
  EXPECT_EQ(Next("2026-11-28T12:00", kNoon), kNoon + kDay);
  EXPECT_THROW(Next("2026-11-27 11:59", kNoon), Error);
  EXPECT_THROW(Next("2026-11-31 12:00", kNoon), Error);
}

// On 2027-03-28 clocks go from 02:00 to 03:00.
TEST_F(DeadlineTest, ClocksThatChangeAreFollowed) {
  constexpr std::time_t kEvening = 1806181200;  // 2027-03-27 22:00
  EXPECT_EQ(Next("06:00", kEvening), kEvening + 7 * kHour);
  EXPECT_EQ(Next("02:30", kEvening), kEvening + kHour * 9 / 2) << "a time that is left out";
}

TEST_F(DeadlineTest, AnythingElseIsNoTime) {
  for (const char* text : {"", "6", "24:00", "06:60", "06:00x", "x06:00", "2026-11-28", "+2h"}) {
    EXPECT_THROW(Next(text, kNoon), Error) << text;
  }
}

}  // namespace
}  // namespace platen
