#include "pipeline/ledger_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "model/support/digest.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/hash.h"
#include "model/support/json_fields.h"
#include "pipeline/record_lines.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxPages = 1'000'000;  // of a document, in a record
constexpr std::string_view kPageStart = R"({"record":"page")";
constexpr std::string_view kSumStart = R"(,"sum":")", kSumEnd = R"("})";

// A record that says of failed pages or of pages read what a flipped bit has made of it would have
// them left out in silence, so it carries a checksum of its line before it.
std::string WithSum(const std::string& json) {
  const std::string_view summed = std::string_view(json).substr(0, json.size() - 1);  // without }
  return std::string(summed).append(kSumStart).append(HashHex(summed)).append(kSumEnd);
}

// Records of earlier versions have none.
void CheckSum(const Json& json, std::string_view line) {
  if (!json.contains("sum")) return;
  const size_t sum_bytes = kSumStart.size() + kHashHexLength + kSumEnd.size();
  if (line.size() > sum_bytes &&
      WithSum(std::string(line.substr(0, line.size() - sum_bytes)) + "}") == line) {
    return;
  }
  throw Error(ErrorKind::kEnvironment, {"", "sum"}, "is not that of the line");
}

// Ascending and apart, so that a page is found at once among however many ranges a record lists.
std::vector<PageRange> Merged(std::vector<PageRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const PageRange& a, const PageRange& b) { return a.first < b.first; });
  std::vector<PageRange> merged;
  for (const PageRange& range : ranges) {
    if (merged.empty() || range.first > merged.back().last) {
      merged.push_back(range);
    } else {
      merged.back().last = std::max(merged.back().last, range.last);
    }
  }
  return merged;
}

// The JSON library gives an integer for any number, 1e300 too, for which C++ has none.
template <typename T>
T Integer(const Json& value) {
  if (value.is_number_integer()) return value.get<T>();
  throw Error(ErrorKind::kEnvironment, {"", "record"}, "has a number that is no integer");
}

int CountFrom(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (!value.is_number_integer() || value.get<int64_t>() < 0 || value.get<int64_t>() > kMaxPages) {
    throw Error(ErrorKind::kEnvironment, {"", key}, "is no count of pages");
  }
  return value.get<int>();
}

// Records of earlier versions have none.
int64_t RunFrom(const Json& json) {
  if (!json.contains("run")) return 0;
  const Json& value = json.at("run");
  if (!value.is_number_unsigned()) throw Error(ErrorKind::kEnvironment, {"", "run"}, "no number");
  return static_cast<int64_t>(std::min(value.get<uint64_t>(), static_cast<uint64_t>(kMaxRun)));
}

constexpr char kStampKeys[][9] = {"size", "modified", "changed", "inode"};

Json ToJson(const FileStamp& stamp) {
  return {{kStampKeys[0], stamp.bytes},
          {kStampKeys[1], stamp.modified_ns},
          {kStampKeys[2], stamp.changed_ns},
          {kStampKeys[3], stamp.inode}};
}

FileStamp StampFrom(const Json& json) {
  FileStamp stamp;
  stamp.bytes = Integer<uint64_t>(json.at(kStampKeys[0]));
  stamp.modified_ns = Integer<int64_t>(json.at(kStampKeys[1]));
  stamp.changed_ns = Integer<int64_t>(json.at(kStampKeys[2]));
  stamp.inode = Integer<uint64_t>(json.at(kStampKeys[3]));
  return stamp;
}

std::string NameFrom(const Json& json, const char* key) {
  if (auto name = NameFromDisplay(json.at(key).get_ref<const std::string&>())) return *name;
  throw Error(ErrorKind::kEnvironment, {"", key}, "is no name");
}

// Nothing for records of earlier versions, which have none.
KnownInput KnownFrom(const Json& json) {
  KnownInput known;
  if (!json.contains("sha256")) return known;
  known.key = json.at("key").get<std::string>();
  known.content.sha256 = json.at("sha256").get<std::string>();
  if (!IsHex(known.key, kHashHexLength) || !IsHex(known.content.sha256, kSha256HexLength)) {
    throw Error(ErrorKind::kEnvironment, {"", "key"}, "is no key");
  }
  if (json.at("kind").get<std::string>() == InputKindName(InputKind::kPdf)) {
    known.content.kind = InputKind::kPdf;
  }
  known.stamp = StampFrom(json.at("file"));
  return known;
}

RunEnd RunEndFrom(const Json& json) {
  RunEnd end;
  end.result = json.at("result").get<std::string>();
  end.ended_s = Integer<int64_t>(json.at("ended_s"));
  end.documents = Integer<int64_t>(json.at("documents"));
  end.failures = Integer<int64_t>(json.at("failures"));
  end.core_s = json.at("core_s").get<double>();
  end.interrupted = json.at("interrupted").get<bool>();
  const double numbers[] = {static_cast<double>(end.ended_s), static_cast<double>(end.documents),
                            static_cast<double>(end.failures), end.core_s};
  for (const double number : numbers) {
    if (number >= 0 && number <= 1e15) continue;
    throw Error(ErrorKind::kEnvironment, {"", "end"}, "is no count");
  }
  return end;
}

// Throws whatever is wrong with the line.
DocumentRecord RecordFrom(const Json& json) {
  DocumentRecord record;
  record.output = NameFrom(json, "output");
  record.name = NameFrom(json, "name");
  if (json.contains("source")) record.source = NameFrom(json, "source");
  record.input = KnownFrom(json);
  record.num_pages = CountFrom(json, "pages");
  record.failed = CountFrom(json, "failed");
  record.of_pages = json.contains("of") ? CountFrom(json, "of") : record.num_pages;
  if (!json.contains("page_list")) {
    record.pages = {{1, record.num_pages}};
  } else if (const auto list = json.at("page_list").get<std::string>(); !list.empty()) {
    record.pages = Merged(ParsePageRanges(list));
  }
  for (const auto& [format, bytes] : json.at("outputs").get_ref<const Json::object_t&>()) {
    record.output_bytes[format] = Integer<int64_t>(bytes);
  }
  record.rendering = json.value("rendering", std::string());
  record.run = RunFrom(json);
  return record;
}

std::string Absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

void VisitLine(const std::string& line, const LedgerVisitor& visitor) {
  const auto json = ParseShallow<Json>(line);
  const auto kind = json.at("record").get<std::string>();
  if (kind == "document" && visitor.document) {
    CheckSum(json, line);
    if (json.contains("output")) visitor.document(RecordFrom(json));  // without: of version 0.1
  } else if (kind == "run" && visitor.start) {
    visitor.start(RunFrom(json));
  } else if (kind == "end" && visitor.end) {
    visitor.end(RunFrom(json), RunEndFrom(json));
  }
}

}  // namespace

int64_t ReadLedger(const Folder& folder, const LedgerVisitor& visitor) {
  int64_t damaged = 0;
  ForEachLineOf(folder, kLedgerName, [&](const std::string& line) {
    if (line.starts_with(kPageStart)) return;  // most of them, and nobody asks
    try {
      VisitLine(line, visitor);
      return;
    } catch (const nlohmann::json::exception&) {
    } catch (const Error&) {
    }
    if (line.find("\"document\"") != std::string::npos) ++damaged;
  });
  return damaged;
}

std::string DocumentLine(const DocumentRecord& record, const std::vector<int>& pages) {
  Json json = {{"record", "document"},
               {"run", record.run},
               {"key", record.input.key},
               {"name", DisplayName(record.name)},
               {"output", DisplayName(record.output)},
               {"source", DisplayName(Absolute(record.source))},
               {"sha256", record.input.content.sha256},
               {"kind", InputKindName(record.input.content.kind)},
               {"file", ToJson(record.input.stamp)},
               {"pages", pages.size()},
               {"page_list", FormatPageRanges(pages)},
               {"of", record.of_pages},
               {"failed", record.failed},
               {"outputs", record.output_bytes}};
  if (!record.rendering.empty()) json["rendering"] = record.rendering;
  return WithSum(json.dump());
}

std::string RunEndLine(int64_t run, const RunEnd& end) {
  return Json{{"record", "end"},          {"run", run},
              {"result", end.result},     {"interrupted", end.interrupted},
              {"ended_s", end.ended_s},   {"documents", end.documents},
              {"failures", end.failures}, {"core_s", end.core_s}}
      .dump();
}

std::string FormatPageRanges(const std::vector<int>& pages) {
  std::string text;
  for (size_t i = 0; i < pages.size();) {
    size_t last = i;
    while (last + 1 < pages.size() && pages[last + 1] == pages[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(pages[i]);
    if (last > i) text += "-" + std::to_string(pages[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace platen
