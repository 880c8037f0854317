// Reading of stored pages: anything may stand in them.
#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/support/error.h"
#include "model/support/json_fields.h"
#include "stages/formats/page_json.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

// Read from text that anybody may have written: a fraction or a number beyond int is refused.
int IntFrom(const Json& value, const char* field, int64_t least = INT_MIN) {
  if (!value.is_number_integer() || value.get<int64_t>() < least ||
      value.get<int64_t>() > INT_MAX) {
    throw Error(
        ErrorKind::kEnvironment, {"", field},
        "is no whole number from " + std::to_string(least) + " to " + std::to_string(INT_MAX));
  }
  return value.get<int>();
}

ResultBox BoxFrom(const Json& json) {
  return {json.at(0).get<double>(), json.at(1).get<double>(), json.at(2).get<double>(),
          json.at(3).get<double>()};
}

template <typename T>
void ReadReading(const Json& json, T& item) {
  item.text = json.at("text").get<std::string>();
  item.confidence.tokens = IntFrom(json.at("tokens"), "tokens");
  item.finish = json.value("finish", std::string());
  if (json.contains("confidence")) {
    item.confidence.mean = json["confidence"].at("mean").get<double>();
    item.confidence.min = json["confidence"].at("min").get<double>();
  }
  item.warnings = json.value("warnings", std::vector<std::string>{});
  item.error = json.value("error", std::string());
}

template <size_t kPoints>
void ReadPoints(const Json& json, std::array<ResultPoint, kPoints>& points) {
  for (size_t i = 0; i < kPoints; ++i) {
    const Json& point = json.at(i);
    points[i] = {point.at(0).get<double>(), point.at(1).get<double>()};
  }
}

// Pages kept by earlier versions have no tokens and words.
template <typename T>
void ReadTokens(const Json& json, T& item) {
  if (!json.contains("token_probabilities")) return;
  const Json& tokens = json["token_probabilities"];
  for (size_t i = 0; i + 1 < tokens.size(); i += 2) {
    const TokenResult token = {IntFrom(tokens.at(i), "token_probabilities", 0),
                               tokens.at(i + 1).get<double>()};
    if (static_cast<size_t>(token.end) > item.text.size()) {
      throw Error(ErrorKind::kEnvironment, {"", "token_probabilities"},
                  "a token ends beyond its text");
    }
    item.tokens.push_back(token);
  }
}

WordResult WordFrom(const Json& json, size_t text_bytes) {
  WordResult word;
  word.begin = IntFrom(json.at("begin"), "words", 0);
  word.end = IntFrom(json.at("end"), "words", 0);
  if (word.begin > word.end || static_cast<size_t>(word.end) > text_bytes) {
    throw Error(ErrorKind::kEnvironment, {"", "words"}, "a word lies beyond its text");
  }
  ReadPoints(json.at("quad"), word.quad);
  word.confidence = json.at("confidence").get<double>();
  return word;
}

LineResult LineFrom(const Json& json) {
  LineResult line;
  ReadPoints(json.at("quad"), line.quad);
  line.box = BoxFrom(json.at("box"));
  ReadReading(json, line);
  if (json.contains("baseline")) ReadPoints(json["baseline"], line.baseline);
  line.x_height = json.value("x_height", 0.0);
  line.weight = json.value("weight", 0.0);
  line.from_text_layer = json.value("text_layer", false);
  ReadTokens(json, line);
  if (!json.contains("words")) return line;
  for (const Json& word : json["words"]) line.words.push_back(WordFrom(word, line.text.size()));
  return line;
}

RegionKind KindFrom(const Json& json) {
  const std::optional<RegionKind> kind = FindRegionKind(json.get_ref<const std::string&>());
  if (kind) return *kind;
  throw Error(ErrorKind::kEnvironment, {"", "label"}, "is no kind of region");
}

TextSyntax SyntaxFrom(const Json& json) {
  if (const auto syntax = FindSyntax(json.get_ref<const std::string&>())) return *syntax;
  throw Error(ErrorKind::kEnvironment, {"", "syntax"}, "is no syntax of text");
}

CellResult CellFrom(const Json& json, const TableResult& table, size_t lines) {
  CellResult cell;
  cell.row = IntFrom(json.at("row"), "row", 0);
  cell.column = IntFrom(json.at("column"), "column", 0);
  cell.row_span = IntFrom(json.at("row_span"), "row_span", 1);
  cell.column_span = IntFrom(json.at("column_span"), "column_span", 1);
  if (cell.row_span > table.rows - cell.row || cell.column_span > table.columns - cell.column) {
    throw Error(ErrorKind::kEnvironment, {"", "table"}, "a cell lies beyond the table");
  }
  ReadPoints(json.at("quad"), cell.quad);
  cell.box = BoxFrom(json.at("box"));
  for (const Json& line : json.at("lines")) {
    cell.lines.push_back(IntFrom(line, "table", 0));
    if (static_cast<size_t>(cell.lines.back()) >= lines) {
      throw Error(ErrorKind::kEnvironment, {"", "table"}, "a cell names a line that is not there");
    }
  }
  return cell;
}

TableResult TableFrom(const Json& json, size_t lines) {
  constexpr int kMostSide = 10'000;  // rows or columns, also of empty cells
  TableResult table;
  table.rows = IntFrom(json.at("rows"), "rows", 1);
  table.columns = IntFrom(json.at("columns"), "columns", 1);
  if (table.rows > kMostSide || table.columns > kMostSide) {
    throw Error(ErrorKind::kEnvironment, {"", "table"},
                "has more than " + std::to_string(kMostSide) + " rows or columns");
  }
  for (const Json& cell : json.at("cells")) table.cells.push_back(CellFrom(cell, table, lines));
  return table;
}

RegionResult RegionFrom(const Json& json) {
  RegionResult region;
  region.kind = KindFrom(json.at("label"));
  region.native_label = json.value("native_label", std::string());
  region.box = BoxFrom(json.at("box"));
  ReadReading(json, region);
  if (json.contains("syntax")) region.syntax = SyntaxFrom(json["syntax"]);
  if (json.contains("quad")) ReadPoints(json["quad"], region.quad);
  if (json.contains("score")) region.score = json["score"].get<double>();
  region.image = json.value("image", std::string());
  ReadTokens(json, region);
  for (const Json& line : json.at("lines")) region.lines.push_back(LineFrom(line));
  if (json.contains("table")) region.table = TableFrom(json["table"], region.lines.size());
  return region;
}

Doubt DoubtFrom(const Json& json) {
  const auto code = json.at("code").get<std::string>();
  for (const DoubtKind kind :
       {DoubtKind::kNoText, DoubtKind::kLowConfidence, DoubtKind::kForeignScript,
        DoubtKind::kRepetition, DoubtKind::kTokenLimit}) {
    if (code == DoubtCode(kind)) return {kind, json.at("text").get<std::string>()};
  }
  throw Error(ErrorKind::kEnvironment, {"", "page result"}, "unknown doubt: " + code);
}

PageResult PageFrom(const Json& json) {
  PageResult page;
  page.page = IntFrom(json.at("page"), "page");
  page.error = json.value("error", std::string());
  page.width = IntFrom(json.at("width"), "width");
  page.height = IntFrom(json.at("height"), "height");
  if (json.contains("dpi")) {
    page.dpi_x = json["dpi"].at(0).get<double>();
    page.dpi_y = json["dpi"].at(1).get<double>();
  }
  page.rotation = IntFrom(json.at("rotation"), "rotation");
  page.skew_degrees = json.at("skew_degrees").get<double>();
  page.x_height = json.value("x_height", 0.0);
  if (json.contains("in_file")) {
    const Json& file = json["in_file"];
    page.in_file = {IntFrom(file.at(0), "in_file", 1), IntFrom(file.at(1), "in_file", 1),
                    file.at(2).get<double>(), file.at(3).get<double>()};
  }
  page.warnings = json.value("warnings", std::vector<std::string>{});
  if (json.contains("doubts")) {
    for (const Json& doubt : json["doubts"]) page.doubts.push_back(DoubtFrom(doubt));
  }
  for (const Json& region : json.at("regions")) page.regions.push_back(RegionFrom(region));
  return page;
}

}  // namespace

PageResult PageFromJson(std::string_view json) {
  try {
    return PageFrom(ParseShallow<Json>(json));
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kEnvironment, {"", "page result"},
                std::string("not a stored page result: ") + e.what());
  }
}

}  // namespace platen
