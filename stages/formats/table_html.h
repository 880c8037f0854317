// Tables as models write them: HTML.
#pragma once

#include <string>
#include <string_view>

namespace platen {

// What is wrong with the HTML of a table, as half a sentence ("<td> is not closed"); empty:
// nothing. Tags must be closed in order, of the few that tables are made of, and rows stand in
// tables and cells in rows; spans are numbers from 1 to 1000 that stay within the rows and apart
// from each other. Anything may be given: time and memory grow with its length.
std::string FaultOfTableHtml(std::string_view html);

}  // namespace platen
