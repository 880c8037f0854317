// exp, log and sigmoid whose bits are the same everywhere: the C library's differ from version to version in
// the last place, and a sampled token may hang on it.
#pragma once

namespace platen {

// Within 2 units in the last place; 0 below -708, for x up to 708.
double FixedExp(double x);
// x > 0 and normal. Within 2 units in the last place.
double FixedLog(double x);
// 1 / (1 + exp(-x)), for any x. NaN stays NaN.
double FixedSigmoid(double x);

}  // namespace platen
