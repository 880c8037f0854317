#include "stages/formats/page_json.h"

#include <climits>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/support/error.h"
#include "model/support/utf8.h"

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

Json ToJson(const std::array<ResultPoint, 4>& quad) {
  Json points = Json::array();
  for (const ResultPoint& p : quad) points.push_back(Json::array({Pixels(p.x), Pixels(p.y)}));
  return points;
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
  if (!item.warnings.empty()) json["warnings"] = ToJson(item.warnings);
  if (!item.error.empty()) json["error"] = ToValidUtf8(item.error);
}

Json ToJson(const LineResult& line) {
  Json json;
  json["quad"] = ToJson(line.quad);
  json["box"] = ToJson(line.box);
  AddReading(json, line);
  return json;
}

Json ToJson(const RegionResult& region) {
  Json json;
  json["label"] = region.label;
  json["box"] = ToJson(region.box);
  AddReading(json, region);
  json["lines"] = Json::array();
  for (const LineResult& line : region.lines) json["lines"].push_back(ToJson(line));
  return json;
}

Json ToJson(const PageResult& page) {
  Json json;
  json["page"] = page.page;
  if (!page.error.empty()) json["error"] = ToValidUtf8(page.error);
  json["width"] = page.width;
  json["height"] = page.height;
  json["rotation"] = page.rotation;
  json["skew_degrees"] = RoundTo(page.skew_degrees, 1000);
  if (!page.warnings.empty()) json["warnings"] = ToJson(page.warnings);
  if (!page.doubts.empty()) json["doubts"] = ToJson(page.doubts);
  json["regions"] = Json::array();
  for (const RegionResult& region : page.regions) json["regions"].push_back(ToJson(region));
  return json;
}

// Read from text that anybody may have written: a fraction or a number beyond int is refused.
int IntFrom(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (!value.is_number_integer() || value.get<int64_t>() < INT_MIN ||
      value.get<int64_t>() > INT_MAX) {
    throw Error(ErrorKind::kEnvironment, {"", key}, "is no whole number of 32 bits");
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
  item.confidence.tokens = IntFrom(json, "tokens");
  if (json.contains("confidence")) {
    item.confidence.mean = json["confidence"].at("mean").get<double>();
    item.confidence.min = json["confidence"].at("min").get<double>();
  }
  item.warnings = json.value("warnings", std::vector<std::string>{});
  item.error = json.value("error", std::string());
}

LineResult LineFrom(const Json& json) {
  LineResult line;
  for (size_t i = 0; i < line.quad.size(); ++i) {
    const Json& point = json.at("quad").at(i);
    line.quad[i] = {point.at(0).get<double>(), point.at(1).get<double>()};
  }
  line.box = BoxFrom(json.at("box"));
  ReadReading(json, line);
  return line;
}

RegionResult RegionFrom(const Json& json) {
  RegionResult region;
  region.label = json.at("label").get<std::string>();
  region.box = BoxFrom(json.at("box"));
  ReadReading(json, region);
  for (const Json& line : json.at("lines")) region.lines.push_back(LineFrom(line));
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
  page.page = IntFrom(json, "page");
  page.error = json.value("error", std::string());
  page.width = IntFrom(json, "width");
  page.height = IntFrom(json, "height");
  page.rotation = IntFrom(json, "rotation");
  page.skew_degrees = json.at("skew_degrees").get<double>();
  page.warnings = json.value("warnings", std::vector<std::string>{});
  if (json.contains("doubts")) {  // not by value(): copies of deep nesting exhaust the stack
    for (const Json& doubt : json["doubts"]) page.doubts.push_back(DoubtFrom(doubt));
  }
  for (const Json& region : json.at("regions")) page.regions.push_back(RegionFrom(region));
  return page;
}

}  // namespace

std::string PageToJson(const PageResult& page) { return ToJson(page).dump(); }

std::string PageToPrettyJson(const PageResult& page, int indent) {
  const std::string text = ToJson(page).dump(1);
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string out = margin;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += margin;
  }
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
