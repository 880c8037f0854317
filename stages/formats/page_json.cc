#include "stages/formats/page_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

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

}  // namespace

std::string PageToJson(const PageResult& page) { return ToJson(page, Detail::kKept).dump(); }

std::string PageToPrettyJson(const PageResult& page, int indent) {
  std::string out(static_cast<size_t>(indent), ' ');
  Print(ToJson(page, Detail::kDocument), static_cast<size_t>(indent), out);
  return out;
}

}  // namespace platen
