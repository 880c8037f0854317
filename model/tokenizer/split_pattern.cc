#include "model/tokenizer/split_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <new>
#include <optional>
#include <utility>

#include "model/support/error.h"

namespace platen {
namespace {

constexpr size_t kMaxPatternBytes = 4096;
// Steps of one match attempt. The known patterns need a few per character.
constexpr uint32_t kMatchLimit = 10'000'000;
constexpr uint32_t kHeapLimitKiB = 64 * 1024;

// White_Space: U+0009..U+000D, U+0085 and the separators. PCRE2's own \s also has U+180E.
constexpr std::string_view kWhiteSpaceSet = R"(\x{09}-\x{0D}\x{85}\p{Z})";

// `pattern` with \s and \S written out. Nothing if \S stands inside a bracket set, where it cannot
// be written out.
std::optional<std::string> SpellOutWhiteSpace(std::string_view pattern) {
  std::string out;
  bool in_set = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char escaped = pattern[++i];
      if (escaped == 's') {
        out += in_set ? std::string(kWhiteSpaceSet) : "[" + std::string(kWhiteSpaceSet) + "]";
      } else if (escaped == 'S') {
        if (in_set) return std::nullopt;
        out += "[^" + std::string(kWhiteSpaceSet) + "]";
      } else {
        out += {c, escaped};
      }
      continue;
    }
    if (c == '[') in_set = true;
    if (c == ']') in_set = false;
    out += c;
  }
  return out;
}

std::string PcreMessage(int code) {
  std::array<PCRE2_UCHAR, 256> buffer = {};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Code = std::unique_ptr<pcre2_code, Deleter<pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Deleter<pcre2_match_data_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Deleter<pcre2_match_context_free>>;

}  // namespace

struct SplitPattern::Impl {
  std::string file;
  std::string field;
  Code code;
  MatchContext context;

  [[noreturn]] void Fail(const std::string& reason) const {
    throw Error(ErrorKind::kModel, {.file = file, .field = field}, reason);
  }

  // Byte range of the first match in `text` at or after `start`; false if there is none.
  bool Find(std::string_view text, size_t start, pcre2_match_data* data, size_t* begin,
            size_t* end) const {
    const auto match = [&](uint32_t options) {
      return pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), start,
                         options | PCRE2_NO_UTF_CHECK, data, context.get());
    };
    int result = match(0);
    // The compiled code has a small stack of its own; the interpreter's is bounded by the heap
    // limit.
    if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);
    if (result == PCRE2_ERROR_NOMATCH) return false;
    if (result < 0) Fail("matching failed: " + PcreMessage(result));
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(data);
    *begin = range[0];
    *end = range[1];
    return true;
  }
};

SplitPattern::SplitPattern(const std::string& pattern, const std::string& file,
                           const std::string& field)
    : impl_(std::make_unique<Impl>()) {
  impl_->file = file;
  impl_->field = field;
  if (pattern.size() > kMaxPatternBytes) {
    impl_->Fail("pattern longer than " + std::to_string(kMaxPatternBytes) + " bytes");
  }
  const std::optional<std::string> spelled = SpellOutWhiteSpace(pattern);
  if (!spelled) impl_->Fail("pattern uses \\S inside brackets, which is not supported");
  int code = 0;
  PCRE2_SIZE offset = 0;
  impl_->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(spelled->data()), spelled->size(),
                                  PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &code, &offset,
                                  nullptr));
  if (impl_->code == nullptr) impl_->Fail("pattern does not compile: " + PcreMessage(code));
  uint32_t matches_empty = 0;
  pcre2_pattern_info(impl_->code.get(), PCRE2_INFO_MATCHEMPTY, &matches_empty);
  if (matches_empty != 0) impl_->Fail("pattern can match nothing, so it does not define words");
  // Without JIT (not built in, or no executable memory) matching works all the same, slower.
  pcre2_jit_compile(impl_->code.get(), PCRE2_JIT_COMPLETE);
  impl_->context.reset(pcre2_match_context_create(nullptr));
  if (impl_->context == nullptr) throw std::bad_alloc();
  pcre2_set_match_limit(impl_->context.get(), kMatchLimit);
  pcre2_set_heap_limit(impl_->context.get(), kHeapLimitKiB);
}

SplitPattern::SplitPattern(SplitPattern&&) noexcept = default;
SplitPattern& SplitPattern::operator=(SplitPattern&&) noexcept = default;
SplitPattern::~SplitPattern() = default;

void SplitPattern::Split(std::string_view text, std::vector<std::string_view>& pieces) const {
  const MatchData data(pcre2_match_data_create_from_pattern(impl_->code.get(), nullptr));
  if (data == nullptr) throw std::bad_alloc();
  size_t done = 0;
  size_t begin = 0;
  size_t end = 0;
  while (done < text.size() && impl_->Find(text, done, data.get(), &begin, &end)) {
    // \K can move a match's start behind its end or before `done`; no word pattern needs it.
    if (begin < done || end <= begin) impl_->Fail("pattern gives an empty or overlapping match");
    if (begin > done) pieces.push_back(text.substr(done, begin - done));
    pieces.push_back(text.substr(begin, end - begin));
    done = end;
  }
  if (done < text.size()) pieces.push_back(text.substr(done));
}

}  // namespace platen
