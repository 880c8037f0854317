#include "model/families/glm_input/rope_config.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

namespace platen::glm_input {
namespace {

constexpr double kMinTheta = 1.0;
constexpr double kMaxTheta = 1e12;
constexpr double kReferenceTheta = 10000.0;

// The objects that may hold settings: the one that counts, and one that is there as well.
struct RopePlaces {
  JsonObject counting;
  std::optional<JsonObject> other;
};

RopePlaces FindPlaces(const JsonObject& model) {
  const bool current = model.Has("rope_parameters");
  if (model.Has("rope_scaling") && !model.Object("rope_scaling").value().empty()) {
    std::optional<JsonObject> other;
    if (current) other.emplace(model.Object("rope_parameters"));
    return {model.Object("rope_scaling"), other};
  }
  if (current) return {model.Object("rope_parameters"), {}};
  static const nlohmann::json nothing = nlohmann::json::object();
  return {JsonObject(nothing, model.file(), model.FieldName("rope_parameters")), {}};
}

// Only plain rotary embeddings over the whole head are computed. The vision model's are called
// "axial" since they have a name of their own.
void CheckKind(const JsonObject& place, bool vision) {
  const char* key = place.Has("rope_type") ? "rope_type" : "type";
  const bool axial = vision && place.Has(key) && place.Required(key) == "axial";
  if (!axial) place.ExpectIfPresent(key, "default");
  place.ExpectIfPresent("partial_rotary_factor", 1.0);
}

void RequireEqual(const JsonObject& place, const char* key, const nlohmann::json& counting,
                  const std::string& from) {
  if (!place.Has(key) || place.Required(key) == counting) return;
  place.Fail(key, "is " + JsonExcerpt(place.Required(key)) + ", but " + from + " makes it " +
                      JsonExcerpt(counting) + "; remove one of them");
}

// Checks all places; theta, which `model` itself may state, is `fallback` if none has it.
double ReadTheta(const JsonObject& model, const RopePlaces& places,
                 std::optional<double> fallback) {
  const bool inside = places.counting.Has("rope_theta") || !model.Has("rope_theta");
  const JsonObject& from = inside ? places.counting : model;
  const double theta = fallback && !from.Has("rope_theta")
                           ? *fallback
                           : from.Number("rope_theta", kMinTheta, kMaxTheta);
  RequireEqual(model, "rope_theta", theta, places.counting.FieldName("rope_theta"));
  if (places.other) RequireEqual(*places.other, "rope_theta", theta, from.FieldName("rope_theta"));
  return theta;
}

RopePlaces CheckedPlaces(const JsonObject& model, bool vision) {
  const RopePlaces places = FindPlaces(model);
  CheckKind(places.counting, vision);
  if (places.other) CheckKind(*places.other, vision);
  model.ExpectIfPresent("partial_rotary_factor", 1.0);
  return places;
}

}  // namespace

TextRope ReadTextRope(const JsonObject& model, int head_dim) {
  constexpr const char* kSection = "mrope_section";
  const RopePlaces places = CheckedPlaces(model, /*vision=*/false);
  // Without any the object's own name is what is missing.
  if (places.counting.value().empty()) model.Required("rope_parameters");
  TextRope rope;
  rope.theta = ReadTheta(model, places, std::nullopt);
  const std::vector<int> section = places.counting.Ints(kSection, 3, 0, head_dim);
  const int sum = std::accumulate(section.begin(), section.end(), 0);
  if (sum != head_dim / 2) {
    places.counting.Fail(kSection, "adds up to " + std::to_string(sum) +
                                       ", not to half of head_dim, " +
                                       std::to_string(head_dim / 2));
  }
  if (places.other) {
    RequireEqual(*places.other, kSection, section, places.counting.FieldName(kSection));
  }
  std::copy(section.begin(), section.end(), rope.mrope_section.begin());
  return rope;
}

double ReadVisionTheta(const JsonObject& model) {
  return ReadTheta(model, CheckedPlaces(model, /*vision=*/true), kReferenceTheta);
}

}  // namespace platen::glm_input
