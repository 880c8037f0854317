#include "model/families/minillm/rotary_config.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "model/support/fixed_math.h"
#include "model/support/json_fields.h"

namespace platen::minillm {
namespace {

constexpr double kMinTheta = 1.0, kMinYarnTheta = 1.01, kMaxTheta = 1e12;
constexpr double kMaxFactor = 1e6;
constexpr int kMaxPositions = 1 << 24;

// The temperature of YaRN for a scaling factor.
double Temperature(double factor, double mscale) {
  return factor <= 1 ? 1 : 0.1 * mscale * FixedLog(factor) + 1;
}

// The dimension at which `turns` rotations fit into the original context, as a real number.
double DimensionOfTurns(const RotaryConfig& rotary, int width, double turns) {
  return width * FixedLog(rotary.original_positions / (turns * 2 * std::numbers::pi)) /
         (2 * FixedLog(rotary.theta));
}

// 0 where a frequency stays, 1 where it is divided by the factor.
double Ramp(const RotaryConfig& rotary, int width, int dimension) {
  const double low = std::max(std::floor(DimensionOfTurns(rotary, width, rotary.beta_fast)), 0.0);
  double high = std::min(std::ceil(DimensionOfTurns(rotary, width, rotary.beta_slow)), width - 1.0);
  if (high == low) high = low + 1;
  return std::clamp((dimension - low) / (high - low), 0.0, 1.0);
}

// The object that holds the scaling, by either name; nothing where there is none.
const char* ScalingKey(const JsonObject& model) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (model.Has(key) && !model.Object(key).value().empty()) return key;
  }
  return nullptr;
}

double NumberOr(const JsonObject& object, const char* key, double low, double high,
                double fallback) {
  return object.Has(key) ? object.Number(key, low, high) : fallback;
}

// Where both are there, they must say the same: which one counts differs between programs.
void CheckEqual(const JsonObject& object, const char* key, const nlohmann::json& other,
                const std::string& name) {
  if (!object.Has(key) || other.is_null() || object.Required(key) == other) return;
  object.Fail(key, "says something else than " + name + "; keep one of the two");
}

void ReadYarn(const JsonObject& place, int max_positions, RotaryConfig& rotary) {
  if (place.Has("attention_factor")) {
    place.Fail("attention_factor", "is given; this program derives it from factor and mscale");
  }
  place.ExpectIfPresent("truncate", true);
  rotary.scaling = RotaryConfig::Scaling::kYarn;
  rotary.factor = NumberOr(place, "factor", 1, kMaxFactor, 1);
  rotary.original_positions = place.Has("original_max_position_embeddings")
                                  ? place.Int("original_max_position_embeddings", 1, kMaxPositions)
                                  : max_positions;
  rotary.beta_fast = NumberOr(place, "beta_fast", 1e-3, 1e6, 32);
  rotary.beta_slow = NumberOr(place, "beta_slow", 1e-3, 1e6, 1);
  rotary.mscale = NumberOr(place, "mscale", 0, 1e3, 1);
  rotary.mscale_all_dim = NumberOr(place, "mscale_all_dim", 0, 1e3, 0);
}

void ReadScaling(const JsonObject& place, int max_positions, RotaryConfig& rotary) {
  const char* key = place.Has("rope_type") ? "rope_type" : "type";
  if (place.Has("rope_type")) {
    CheckEqual(place, "type", place.Required("rope_type"), "rope_type");
  }
  const std::string kind = place.Has(key) ? place.String(key, 64) : "default";
  if (kind == "yarn") {
    ReadYarn(place, max_positions, rotary);
  } else if (kind == "linear") {
    rotary.scaling = RotaryConfig::Scaling::kLinear;
    rotary.factor = place.Number("factor", 1, kMaxFactor);
  } else if (kind != "default") {
    place.Fail(key, "is \"" + kind + "\"; this program computes default, linear and yarn");
  }
}

}  // namespace

std::vector<double> ExactFrequencies(const RotaryConfig& rotary, int width, int max_positions) {
  using Scaling = RotaryConfig::Scaling;
  const bool yarn = rotary.scaling == Scaling::kYarn && max_positions > rotary.original_positions;
  std::vector<double> frequencies;
  for (int d = 0; d < width / 2; ++d) {
    double f = FixedExp(-2.0 * d / width * FixedLog(rotary.theta));
    if (rotary.scaling == Scaling::kLinear) f /= rotary.factor;
    if (yarn) {
      const double ramp = Ramp(rotary, width, d);
      f = f / rotary.factor * ramp + f * (1 - ramp);
    }
    frequencies.push_back(f);
  }
  return frequencies;
}

std::vector<float> Frequencies(const RotaryConfig& rotary, int width, int max_positions) {
  const std::vector<double> exact = ExactFrequencies(rotary, width, max_positions);
  return {exact.begin(), exact.end()};
}

double TableFactor(const RotaryConfig& rotary) {
  if (rotary.scaling != RotaryConfig::Scaling::kYarn) return 1;
  return Temperature(rotary.factor, rotary.mscale) /
         Temperature(rotary.factor, rotary.mscale_all_dim);
}

double ScoreFactor(const RotaryConfig& rotary) {
  if (rotary.scaling != RotaryConfig::Scaling::kYarn || rotary.mscale_all_dim == 0) return 1;
  const double m = Temperature(rotary.factor, rotary.mscale_all_dim);
  return m * m;
}

RotaryConfig ReadRotary(const JsonObject& model, Pairing pairing, bool with_default,
                        int max_positions) {
  RotaryConfig rotary;
  rotary.pairing = pairing;
  const char* key = ScalingKey(model);
  const bool inside = key != nullptr && model.Object(key).Has("rope_theta");
  rotary.theta = inside ? model.Object(key).Number("rope_theta", kMinTheta, kMaxTheta)
                        : NumberOr(model, "rope_theta", kMinTheta, kMaxTheta, 10000);
  if (key != nullptr) {
    const JsonObject place = model.Object(key);
    if (inside) {
      CheckEqual(model, "rope_theta", place.Required("rope_theta"), place.FieldName("rope_theta"));
    }
    if (!model.value().value("rope_parameters", nlohmann::json::object()).empty()) {
      CheckEqual(model, "rope_parameters", place.value(), key);
    }
    ReadScaling(place, max_positions, rotary);
  } else if (with_default) {
    rotary.scaling = RotaryConfig::Scaling::kYarn;
    rotary.factor = 40;
    rotary.original_positions = 4096;
  }
  if (rotary.scaling == RotaryConfig::Scaling::kYarn && rotary.theta < kMinYarnTheta) {
    model.Fail("rope_theta", "must be 1.01 or more with YaRN, which divides by its logarithm");
  }
  return rotary;
}

}  // namespace platen::minillm
