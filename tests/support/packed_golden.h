// Goldens of training: arrays in double, and packed files that hold the values of many tensors.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/support/golden.h"

namespace platen::testing {

// Whatever they are stored as.
inline std::vector<double> Wide(const Npy& npy) {
  if (!npy.f64.empty()) return npy.f64;
  return {npy.f32.begin(), npy.f32.end()};
}
inline std::vector<double> PackedValues(const GoldenCase& golden, const std::string& key) {
  const auto file = golden.json["packed"][key]["file"].get<std::string>();
  return Wide(ReadNpy(SourcePath(golden.folder + "/" + file)));
}

template <class T>
constexpr bool kIsDouble = std::is_same_v<T, double>;

// What may differ: in double nearly nothing, but for results stored as float.
template <class T>
double Tolerance(const nlohmann::json& part, bool stored_as_double) {
  if (!kIsDouble<T>) return part["atol"].get<double>();
  if (stored_as_double) return part["atol_f64"].get<double>();
  return 1e-7 * part["largest"].get<double>() + 1e-12;
}

// Largest difference within `atol`, and the root mean square of differences within `rms`, if given.
template <class T>
::testing::AssertionResult Near(std::span<const T> actual, std::span<const double> expected,
                                double atol, double rms = 0) {
  if (actual.size() != expected.size()) {
    return ::testing::AssertionFailure()
           << "sizes differ: " << actual.size() << " against " << expected.size();
  }
  double worst = 0, squares = 0;
  size_t at = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - expected[i]);
    if (!(difference <= worst)) worst = difference, at = i;
    squares += difference * difference;
  }
  if (!(worst <= atol)) {
    return ::testing::AssertionFailure() << "element " << at << ": " << actual[at] << ", expected "
                                         << expected[at] << ": " << worst << " > " << atol;
  }
  const double root = std::sqrt(squares / static_cast<double>(std::max<size_t>(1, actual.size())));
  if (rms > 0 && !(root <= rms)) {
    return ::testing::AssertionFailure() << "root mean square " << root << " > " << rms;
  }
  return ::testing::AssertionSuccess();
}

// The tensors of a packed file, in its order. A few elements of a tensor, if `few_may_differ_by` is
// not 0, may be so far off.
template <class T>
void ExpectPacked(const GoldenCase& golden, const std::string& key,
                  const std::function<std::span<const T>(size_t tensor)>& values,
                  double few_may_differ_by = 0) {
  const auto& json = golden.json["packed"][key];
  const bool exact = json["dtype"] == "float64";
  const std::vector<double> all = PackedValues(golden, key);
  for (size_t t = 0; t < json["parts"].size(); ++t) {
    const auto& part = json["parts"][t];
    const std::span<const T> actual = values(t);
    std::vector<double> expected(all.begin() + part["offset"].get<std::ptrdiff_t>(),
                                 all.begin() + part["offset"].get<std::ptrdiff_t>() +
                                     static_cast<std::ptrdiff_t>(actual.size()));
    const double atol = Tolerance<T>(part, exact);
    size_t few = few_may_differ_by > 0 ? std::max<size_t>(1, actual.size() / 1000) : 0;
    for (size_t i = 0; i < actual.size() && few > 0; ++i) {
      const double difference = std::abs(static_cast<double>(actual[i]) - expected[i]);
      if (difference <= atol || difference > few_may_differ_by) continue;
      expected[i] = static_cast<double>(actual[i]);
      --few;
    }
    const double rms = kIsDouble<T> ? 0 : part.value("rms_atol", 0.0);
    EXPECT_TRUE(Near<T>(actual, expected, atol, rms)) << key << " " << part["name"];
  }
}

}  // namespace platen::testing
