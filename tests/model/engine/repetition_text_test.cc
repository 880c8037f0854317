#include "model/engine/repetition_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace platen {
namespace {

struct Case {
  const char* unit;
  UnitKind kind;
};

const Case kCases[] = {
    {".", UnitKind::kLeader},
    {". ", UnitKind::kLeader},
    {"_", UnitKind::kLeader},
    {"=", UnitKind::kLeader},
    {"- - * ", UnitKind::kLeader},
    {"·", UnitKind::kLeader},
    {" … ", UnitKind::kLeader},
    {" ", UnitKind::kLeader},
    {"&nbsp;", UnitKind::kLeader},
    {"&nbsp;.", UnitKind::kLeader},
    {"\u00A0", UnitKind::kLeader},
    {"<td></td>", UnitKind::kCells},
    {"<td> </td>", UnitKind::kCells},
    {"<td></td>\n", UnitKind::kCells},
    {"<td><br/></td>", UnitKind::kCells},
    {"<th colspan=\"2\" style='x: 1'>&nbsp;</th>", UnitKind::kCells},
    {"| ", UnitKind::kCells},
    {"|---", UnitKind::kCells},
    {"+==", UnitKind::kCells},
    {"<tr><td></td><td></td></tr>", UnitKind::kRows},
    {"<tr class=\"a\">\n<td>&nbsp;</td></tr>\r\n", UnitKind::kRows},
    {"<td></td></tr><tr>", UnitKind::kRows},
    {"<table></table>", UnitKind::kRows},
    {"|  |  |\n", UnitKind::kRows},
    {"|:---|---:|\n", UnitKind::kRows},
    {"-\n", UnitKind::kRows},
    {"\n", UnitKind::kRows},
    {"<td>0</td>", UnitKind::kText},
    {"<tr><td></td><td>kg</td></tr>", UnitKind::kText},
    {"<p></p>", UnitKind::kText},
    {"<tdx></tdx>", UnitKind::kText},
    {"<td", UnitKind::kText},
    {"</td", UnitKind::kText},
    {"td>", UnitKind::kText},
    {"<td <b>", UnitKind::kText},
    {"&amp;", UnitKind::kText},
    {"a", UnitKind::kText},
    {"0", UnitKind::kText},
    {"and so on. ", UnitKind::kText},
    {"é", UnitKind::kText},
    {"\xFF", UnitKind::kText},
    {"\x80", UnitKind::kText},
};

TEST(ClassifyUnit, SaysWhatAUnitIsMadeOf) {
  for (const auto& [unit, kind] : kCases) EXPECT_EQ(ClassifyUnit(unit), kind) << unit;
  EXPECT_EQ(ClassifyUnit(""), UnitKind::kText);
}

TEST(ClassifyUnit, DoesNotDependOnWhereTheUnitBegins) {
  for (const auto& [unit, kind] : kCases) {
    const std::string whole = unit;
    for (size_t turn = 1; turn < whole.size(); ++turn) {
      const std::string turned = whole.substr(turn) + whole.substr(0, turn);
      EXPECT_EQ(ClassifyUnit(turned), kind) << whole << " turned by " << turn;
    }
  }
}

TEST(ClassifyUnit, SeveralUnitsAreOfTheKindOfOne) {
  for (const auto& [unit, kind] : kCases) {
    EXPECT_EQ(ClassifyUnit(std::string(unit) + unit + unit), kind) << unit;
  }
}

}  // namespace
}  // namespace platen
