// Warnings of regions that say what to think of their text.
#include "stages/reading_notes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace platen {
namespace {

ReadingConfig Model(std::vector<std::string> tasks) {
  ReadingConfig config;
  config.prompts = {{"text", "Text:"}, {"table", "Table:"}, {"formula", "Formula:"}};
  config.tasks = std::move(tasks);
  SetStandardKinds(config);
  return config;
}

std::vector<std::string> NotesOn(RegionKind kind, TextSyntax syntax, const std::string& text,
                                 const ReadingConfig& model) {
  PageResult page;
  page.regions.emplace_back();
  page.regions[0].kind = kind;
  page.regions[0].syntax = syntax;
  page.regions[0].text = text;
  AddReadingNotes(model, page);
  AddReadingNotes(model, page);  // once is enough
  return page.regions[0].warnings;
}

using Notes = std::vector<std::string>;

TEST(ReadingNotes, WhatTheModelCannotReadIsReadAsTextAndSaysSo) {
  const ReadingConfig text_only = Model({"text"});
  EXPECT_EQ(NotesOn(RegionKind::kTable, TextSyntax::kPlain, "a\tb", text_only),
            Notes{"read as text: the model was not trained on a table"});
  EXPECT_EQ(NotesOn(RegionKind::kFormula, TextSyntax::kPlain, "a = b", text_only),
            Notes{"read as text: the model was not trained on a formula"});
  EXPECT_EQ(NotesOn(RegionKind::kText, TextSyntax::kPlain, "a", text_only), Notes{});
  EXPECT_EQ(NotesOn(RegionKind::kTable, TextSyntax::kPlain, "", text_only), Notes{});
  EXPECT_EQ(NotesOn(RegionKind::kTable, TextSyntax::kHtml, "<table><tr><td>a</td></tr></table>",
                    Model({})),
            Notes{});
}

TEST(ReadingNotes, MarkupThatIsNotBalancedSaysSo) {
  EXPECT_EQ(NotesOn(RegionKind::kTable, TextSyntax::kHtml, "<table>", Model({})),
            Notes{"the HTML is no table in order: <table> is not closed"});
  EXPECT_EQ(NotesOn(RegionKind::kFormula, TextSyntax::kLatex, "\\[ {a \\]", Model({})),
            Notes{"the LaTeX is not balanced: { is not closed"});
}

TEST(ReadingNotes, CharactersThatCouldNotBeDecodedAreCounted) {
  EXPECT_EQ(NotesOn(RegionKind::kText, TextSyntax::kPlain,
                    "a\xFF"
                    "b\xEF\xBF\xBD",
                    Model({})),
            Notes{"2 characters could not be decoded (U+FFFD)"});
}

}  // namespace
}  // namespace platen
