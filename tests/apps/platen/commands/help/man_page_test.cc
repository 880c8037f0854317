#include "apps/platen/commands/help/man_page.h"

#include <gtest/gtest.h>

#include "apps/platen/cli/text_blocks.h"
#include "apps/platen/commands/help/roff.h"

namespace platen {
namespace {

int Nothing(const Words&) { return 0; }

// Occurrences of `part` in `text`.
int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string Dashed(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '-' ? "\\-" : std::string(1, c);
  return out;
}

TEST(TextBlocks, ParagraphsAreJoinedAndLinesThatBeginWithASpaceAreKept) {
  const auto blocks = TextBlocks("one\ntwo\n\n  ls -l\n\n    x\nthree\n");
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_EQ(blocks[0].text, "one two");
  EXPECT_EQ(blocks[1].text, "  ls -l\n");
  EXPECT_EQ(blocks[2].text, "    x\n");
  EXPECT_TRUE(blocks[2].as_it_is);
  EXPECT_EQ(blocks[3].text, "three");
  EXPECT_FALSE(blocks[3].as_it_is);
  EXPECT_TRUE(TextBlocks("").empty());
}

TEST(Roff, NoTextBecomesARequestOrAnEscape) {
  Roff page("x", "y", "z");
  page.Section("S");
  page.Paragraph(".TH ' \\fB -o 'a' \"b\" ~ ^ `c`");
  page.AsItIs("  'x\n.de y\n");
  EXPECT_EQ(page.text().substr(page.text().find(".SH \"S\"")),
            ".SH \"S\"\n"
            "\\&.TH \\(aq \\efB \\-o \\(aqa\\(aq \\(dqb\\(dq \\(ti \\(ha \\(gac\\(ga\n"
            ".PP\n.nf\n  \\(aqx\n\\&.de y\n.fi\n");
}

TEST(ManPage, HasEveryCommandAndOption) {
  const std::string page = ManPage(CommandGroups());
  for (const CalledCommand& called : CalledCommands(CommandGroups())) {
    EXPECT_EQ(Count(page, ".SS \"platen " + Dashed(called.name) + "\"\n"), 1) << called.name;
    const std::string own = ManPageOf(called);
    for (const OptionSpec& option : called.command->spec().options) {
      if (option.positional) continue;
      const std::string name = Dashed("--" + option.name) + "\\fR";
      EXPECT_EQ(Count(own, name), 1) << called.name << " " << option.name;
      EXPECT_NE(page.find(name), std::string::npos) << option.name;
    }
  }
}

TEST(ManPage, SaysWhatExitCodesMeanWhereTheyDiffer) {
  const std::string page = ManPageOf({"export", FindCommand("export")});
  EXPECT_EQ(Count(page, "some documents were not exported"), 1);
  EXPECT_EQ(Count(page, "a page or document failed"), 0);
  EXPECT_EQ(Count(page, "interrupted: the same command continues"), 1);
}

TEST(ManPage, PositionalOptionsAndVariablesStandWhereTheyBelong) {
  static const CommandSpec spec = {
      .synopsis = {"platen x"},
      .description = "What.",
      .options = {{.name = "inputs", .type = OptionType::kTextList, .positional = true}},
      .variables = {{"HF_X", "a variable"}}};
  const Command command = {"x", "s", []() -> const CommandSpec& { return spec; }, Nothing};
  const std::string page = ManPageOf({"x", &command});
  EXPECT_EQ(Count(page, "inputs"), 0);
  EXPECT_LT(page.find("ENVIRONMENT"), page.find("HF_X"));
}

}  // namespace
}  // namespace platen
