#include "stages/formats/page_json.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/support/error.h"
#include "model/support/utf8.h"
#include "stages/formats/table_text.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

double RoundTo(double value, double steps_per_unit) {
  const double rounded = std::round(value * steps_per_unit) / steps_per_unit;
  return rounded == 0 ? 0.0 : rounded;  // no "-0.0"
}
double Pixels(double value) { return RoundTo(value, 10); }
double Probability(double value) { return RoundTo(value, 10000); }

Json ToJson(const ResultBox& box) {
  return Json::array({Pixels(box.x0), Pixels(box.y0), Pixels(box.x1), Pixels(box.y1)});
}

Json ToJson(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const std::string& text : texts) json.push_back(ToValidUtf8(text));
  return json;
}

Json ToJson(const std::vector<Doubt>& doubts) {
  Json json = Json::array();
  for (const Doubt& doubt : doubts) {
    json.push_back(Json{{"code", DoubtCode(doubt.kind)}, {"text", ToValidUtf8(doubt.text)}});
  }
  return json;
}

// text, tokens, confidence, warnings, error: common to lines and regions.
template <typename T>
void AddReading(Json& json, const T& item) {
  json["text"] = ToValidUtf8(item.text);
  json["tokens"] = item.confidence.tokens;
  if (item.confidence.tokens > 0) {
    json["confidence"] = Json{{"mean", Probability(item.confidence.mean)},
                              {"min", Probability(item.confidence.min)}};
  }
  if (!item.finish.empty()) json["finish"] = ToValidUtf8(item.finish);
  if (!item.warnings.empty()) json["warnings"] = ToJson(item.warnings);
  if (!item.error.empty()) json["error"] = ToValidUtf8(item.error);
}

// Kept pages hold everything; a document's .json what its readers know.
enum class Detail { kDocument, kKept };

template <size_t kPoints>
Json ToJson(const std::array<ResultPoint, kPoints>& points) {
  Json json = Json::array();
  for (const ResultPoint& p : points) json.push_back(Json::array({Pixels(p.x), Pixels(p.y)}));
  return json;
}

// [end, probability, end, probability, ...]
Json ToJson(const std::vector<TokenResult>& tokens) {
  Json json = Json::array();
  for (const TokenResult& token : tokens) {
    json.push_back(token.end);
    json.push_back(Probability(token.probability));
  }
  return json;
}

Json ToJson(const std::vector<WordResult>& words) {
  Json json = Json::array();
  for (const WordResult& word : words) {
    json.push_back(Json{{"begin", word.begin},
                        {"end", word.end},
                        {"quad", ToJson(word.quad)},
                        {"confidence", Probability(word.confidence)}});
  }
  return json;
}

// Words as readers of a document's .json want them: with their text.
Json WordsOf(const LineResult& line) {
  Json json = Json::array();
  for (const WordResult& word : line.words) {
    const std::string text = line.text.substr(static_cast<size_t>(word.begin),
                                              static_cast<size_t>(word.end - word.begin));
    json.push_back(Json{{"text", ToValidUtf8(text)},
                        {"quad", ToJson(word.quad)},
                        {"confidence", Probability(word.confidence)}});
  }
  return json;
}

Json ToJson(const LineResult& line, Detail detail) {
  Json json;
  json["quad"] = ToJson(line.quad);
  json["box"] = ToJson(line.box);
  AddReading(json, line);
  if (detail == Detail::kDocument) {
    if (line.words.empty()) return json;
    json["word_boxes"] = line.from_text_layer ? "text_layer" : "estimated";
    json["words"] = WordsOf(line);
    return json;
  }
  json["baseline"] = ToJson(line.baseline);
  json["x_height"] = Pixels(line.x_height);
  json["weight"] = Probability(line.weight);
  json["token_probabilities"] = ToJson(line.tokens);
  json["words"] = ToJson(line.words);
  if (line.from_text_layer) json["text_layer"] = true;
  return json;
}

Json TableToJson(const RegionResult& region, Detail detail) {
  const TableResult& table = *region.table;
  Json cells = Json::array();
  for (const CellResult& cell : table.cells) {
    cells.push_back(Json{{"row", cell.row},
                         {"column", cell.column},
                         {"row_span", cell.row_span},
                         {"column_span", cell.column_span},
                         {"quad", ToJson(cell.quad)},
                         {"box", ToJson(cell.box)},
                         {"lines", cell.lines}});
    if (detail == Detail::kDocument) {
      cells.back()["text"] = ToValidUtf8(CellText(region, cell));
    }
  }
  return Json{{"rows", table.rows}, {"columns", table.columns}, {"cells", std::move(cells)}};
}

Json ToJson(const RegionResult& region, Detail detail) {
  Json json;
  json["label"] = RegionKindName(region.kind);
  if (!region.native_label.empty()) json["native_label"] = ToValidUtf8(region.native_label);
  json["box"] = ToJson(region.box);
  AddReading(json, region);
  json["syntax"] = SyntaxName(region.syntax);
  json["score"] = Probability(region.score);
  if (!region.image.empty()) json["image"] = ToValidUtf8(region.image);
  if (detail == Detail::kKept) {
    json["quad"] = ToJson(region.quad);
    json["token_probabilities"] = ToJson(region.tokens);
  }
  if (region.table) json["table"] = TableToJson(region, detail);
  json["lines"] = Json::array();
  for (const LineResult& line : region.lines) json["lines"].push_back(ToJson(line, detail));
  return json;
}

Json ToJson(const FilePage& page) {
  return Json::array({page.width, page.height, Pixels(page.dpi_x), Pixels(page.dpi_y)});
}

Json ToJson(const PageResult& page, Detail detail) {
  Json json;
  json["page"] = page.page;
  if (!page.error.empty()) json["error"] = ToValidUtf8(page.error);
  json["width"] = page.width;
  json["height"] = page.height;
  json["dpi"] = Json::array({Pixels(page.dpi_x), Pixels(page.dpi_y)});
  json["rotation"] = page.rotation;
  json["skew_degrees"] = RoundTo(page.skew_degrees, 1000);
  if (detail == Detail::kKept) json["x_height"] = Pixels(page.x_height);
  if (detail == Detail::kKept && page.in_file.width > 0) json["in_file"] = ToJson(page.in_file);
  if (detail == Detail::kDocument && HasTextLayer(page)) json["text_source"] = "text_layer";
  if (!page.warnings.empty()) json["warnings"] = ToJson(page.warnings);
  if (!page.doubts.empty()) json["doubts"] = ToJson(page.doubts);
  json["regions"] = Json::array();
  for (const RegionResult& region : page.regions) {
    Json item = ToJson(region, detail);
    if (detail == Detail::kDocument) item["reading_index"] = json["regions"].size();
    json["regions"].push_back(std::move(item));
  }
  return json;
}

constexpr size_t kShortLine = 160;

// Lists of numbers and short objects without lists of objects stand on one line.
void Print(const Json& json, size_t indent, std::string& out) {
  if (!json.is_structured() || json.empty()) {
    out += json.dump();
    return;
  }
  const bool nested = std::any_of(json.begin(), json.end(), [](const Json& item) {
    return item.is_object() || (item.is_array() && !item.empty() && item.front().is_object());
  });
  if (!nested) {
    const std::string line = json.dump();
    if (json.is_array() || line.size() <= kShortLine) {
      out += line;
      return;
    }
  }
  out += json.is_object() ? "{" : "[";
  bool first = true;
  for (const auto& [key, value] : json.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(indent + 1, ' ');
    if (json.is_object()) out += Json(key).dump() + ": ";
    Print(value, indent + 1, out);
  }
  out += '\n';
  out.append(indent, ' ');
  out += json.is_object() ? "}" : "]";
}

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
       {DoubtKind::kNoText, DoubtKind::kLowConfidence, DoubtKind::kForeignScript}) {
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
  if (json.contains("doubts")) {  // not by value(): copies of deep nesting exhaust the stack
    for (const Json& doubt : json["doubts"]) page.doubts.push_back(DoubtFrom(doubt));
  }
  for (const Json& region : json.at("regions")) page.regions.push_back(RegionFrom(region));
  return page;
}

}  // namespace

std::string PageToJson(const PageResult& page) { return ToJson(page, Detail::kKept).dump(); }

std::string PageToPrettyJson(const PageResult& page, int indent) {
  std::string out(static_cast<size_t>(indent), ' ');
  Print(ToJson(page, Detail::kDocument), static_cast<size_t>(indent), out);
  return out;
}

PageResult PageFromJson(std::string_view json) {
  try {
    return PageFrom(Json::parse(json));
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kEnvironment, {"", "page result"},
                std::string("not a stored page result: ") + e.what());
  }
}

}  // namespace platen
