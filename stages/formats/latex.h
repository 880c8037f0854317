// Formulas as models write them: LaTeX.
#pragma once

#include <string>
#include <string_view>

namespace platen {

// The formula without the signs that a document sets it in: "$$ x $$", "\[ x \]" and the like.
std::string_view BareFormula(std::string_view latex);

// What is wrong with a bare formula, as half a sentence ("{ is not closed"); empty: nothing.
// Braces, \left and \right, \begin and \end must match, and no dollar sign may end the formula
// early. Anything may be given: time and memory grow with its length.
std::string FaultOfLatex(std::string_view bare);

}  // namespace platen
