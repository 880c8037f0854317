#include "apps/platen/commands/ocr/shard_option.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "model/support/error.h"

namespace platen {
namespace {

constexpr char kTask[] = "SLURM_ARRAY_TASK_ID", kFirst[] = "SLURM_ARRAY_TASK_MIN",
               kLast[] = "SLURM_ARRAY_TASK_MAX", kStep[] = "SLURM_ARRAY_TASK_STEP",
               kCount[] = "SLURM_ARRAY_TASK_COUNT", kIndex[] = "JOB_COMPLETION_INDEX";
constexpr std::string_view kAuto = "auto", kAutoOf = "auto/";

[[noreturn]] void Refuse(const std::string& reason) {
  throw Error(ErrorKind::kUsage, {"", "--shard"}, reason);
}

std::optional<int64_t> NumberFrom(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 0 && number <= (int64_t{1} << 40) ? std::optional(number)
                                                              : std::nullopt;
}

// Nothing if there is no such variable.
std::optional<int64_t> Variable(const Environment& environment, const char* name) {
  const char* text = environment(name);
  if (text == nullptr) return std::nullopt;
  if (const auto number = NumberFrom(text)) return number;
  Refuse(std::string(name) + "=" + text + " is no number");
}

Shard Checked(int64_t index, int64_t count, const std::string& from) {
  if (count < 1 || count > Shard::kMaxCount) {
    Refuse(from + ": the number of shards is from 1 to " + std::to_string(Shard::kMaxCount));
  }
  if (index < 1 || index > count) {
    Refuse(from + ": there is no shard " + std::to_string(index) + " of " + std::to_string(count) +
           "; shards are numbered from 1");
  }
  return {static_cast<int>(index), static_cast<int>(count)};
}

// An array may begin anywhere and have a step, but no gaps: then its tasks could not be numbered
// without knowing all of them.
Shard OfArray(const Environment& environment) {
  const auto task = Variable(environment, kTask), first = Variable(environment, kFirst);
  if (!task || !first) {
    if (environment(kIndex) != nullptr) {
      Refuse("a Kubernetes Job does not say how many indexes it has; say --shard auto/N");
    }
    Refuse(std::string("auto needs a Slurm array (") + kTask + " and " + kFirst +
           " are not set); say which part: --shard K/N");
  }
  const int64_t step = std::max<int64_t>(1, Variable(environment, kStep).value_or(1));
  const auto last = Variable(environment, kLast), count = Variable(environment, kCount);
  if (!count && !last) Refuse(std::string("auto needs ") + kCount + " or " + kLast);
  const int64_t tasks = count ? *count : (*last - *first) / step + 1;
  const int64_t place = *task - *first;
  if (place < 0 || place % step != 0 || place / step >= tasks ||
      (count && last && (*last - *first) / step + 1 != *count)) {
    Refuse(
        "the array of this task has gaps; submit it as 1-N, and a part of it again with --shard "
        "auto/N");
  }
  return Checked(place / step + 1, tasks, "auto");
}

Shard OfIndex(const std::string& text, const Environment& environment) {
  const auto count = NumberFrom(std::string_view(text).substr(kAutoOf.size()));
  if (!count) Refuse("\"" + text + "\" is no shard; write auto/N, such as auto/8");
  if (const auto task = Variable(environment, kTask)) return Checked(*task, *count, kTask);
  if (const auto index = Variable(environment, kIndex)) return Checked(*index + 1, *count, kIndex);
  Refuse(std::string("auto/N needs ") + kTask + " or " + kIndex +
         ", and neither is set; say which part: --shard K/N");
}

}  // namespace

Shard ShardFrom(const Settings& settings, const Environment& environment) {
  const std::string& text = settings.Text("shard");
  if (text.empty()) return {};
  if (text == kAuto) return OfArray(environment);
  if (text.starts_with(kAutoOf)) return OfIndex(text, environment);
  const size_t slash = text.find('/');
  const auto index = NumberFrom(std::string_view(text).substr(0, slash));
  const auto count =
      slash == text.npos ? std::nullopt : NumberFrom(std::string_view(text).substr(slash + 1));
  if (!index || !count) {
    Refuse("\"" + text + "\" is no shard; write K/N, such as 2/8, or auto");
  }
  return Checked(*index, *count, text);
}

}  // namespace platen
