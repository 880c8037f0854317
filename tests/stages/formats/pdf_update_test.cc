// Text over the pages of a PDF, as an update of its objects.
#include "stages/formats/pdf_update.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/support/error.h"

namespace platen {
namespace {

using Json = nlohmann::json;

// Two pages with one content: the first has all of its own, the second what the tree says.
Json Description() {
  return Json::parse(R"({"version": 2,
    "pages": [{"object": "3 0 R", "contents": ["5 0 R"]}, {"object": "4 0 R", "contents": []}],
    "qpdf": [{"jsonversion": 2, "pdfversion": "1.4", "maxobjectid": 7}, {
      "obj:2 0 R": {"value": {"/Kids": ["3 0 R", "4 0 R"], "/MediaBox": [0, 0, 72, "6 0 R"],
                              "/Rotate": 450, "/Resources": "7 0 R"}},
      "obj:3 0 R": {"value": {"/Parent": "2 0 R", "/MediaBox": [100, 50, 0, 10], "/Rotate": 0,
                              "/Resources": {"/Font": {"/Text": "9 0 R"}}}},
      "obj:4 0 R": {"value": {"/Parent": "2 0 R"}},
      "obj:5 0 R": {"stream": {"dict": {}}},
      "obj:6 0 R": {"value": 36},
      "obj:7 0 R": {"value": {"/ExtGState": {}}}}]})");
}

PageResult Page(int number, const std::string& text = "word", bool own = false) {
  PageResult page;
  page.page = number;
  page.width = 200;
  page.height = 100;
  page.dpi_x = page.dpi_y = 200;
  LineResult line;
  line.text = text;
  line.quad = {{{20, 20}, {100, 20}, {100, 40}, {20, 40}}};
  line.from_text_layer = own;
  page.regions.emplace_back();
  page.regions[0].text = text;
  page.regions[0].lines = {line};
  return page;
}

Json UpdateOf(const Json& description, const std::vector<PageResult>& pages) {
  PdfUpdate update(description.dump());
  for (const PageResult& page : pages) update.Add(page);
  return Json::parse(update.Take())["qpdf"];
}

TEST(PdfUpdate, APageGetsAContentAndAFontOfItsOwn) {
  const Json update = UpdateOf(Description(), {Page(1)});
  const Json& page = update[1]["obj:3 0 R"]["value"];
  EXPECT_EQ(page["/Parent"], "2 0 R");
  EXPECT_EQ(page["/MediaBox"], Json::parse("[100, 50, 0, 10]"));
  ASSERT_EQ(page["/Contents"].size(), 3U);
  EXPECT_EQ(page["/Contents"][1], "5 0 R");
  const Json& fonts = page["/Resources"]["/Font"];
  EXPECT_EQ(fonts["/Text"], "9 0 R");
  EXPECT_TRUE(update[1].contains("obj:" + fonts["/TextX"].get<std::string>()));
  EXPECT_FALSE(update[1].contains("obj:4 0 R"));
  EXPECT_FALSE(update[1].contains("obj:2 0 R"));
  EXPECT_EQ(update[0]["maxobjectid"].get<int>() - 7, static_cast<int>(update[1].size()) - 1);
}

TEST(PdfUpdate, WhatThePageInheritsCounts) {
  const Json update = UpdateOf(Description(), {Page(2)});
  const Json& page = update[1]["obj:4 0 R"]["value"];
  EXPECT_TRUE(page["/Resources"].contains("/ExtGState"));
  EXPECT_TRUE(page["/Resources"]["/Font"].contains("/Text"));
  EXPECT_EQ(page["/Contents"].size(), 2U);
}

TEST(PdfUpdate, PagesWithoutTextThatWasReadStayAsTheyAre) {
  PdfUpdate update(Description().dump());
  update.Add(Page(1, "own", true));
  PageResult failed;
  failed.page = 1;
  update.Add(failed);
  update.Add(Page(1, ""));
  EXPECT_TRUE(update.empty());
  PageResult both = Page(2);
  both.regions.push_back(Page(2, "own", true).regions[0]);
  update.Add(both);
  EXPECT_FALSE(update.empty());
  const Json made = Json::parse(update.Take())["qpdf"][1];
  EXPECT_FALSE(made.contains("obj:3 0 R"));
}

TEST(PdfUpdate, ADescriptionThatCannotBeIsRefused) {
  for (const char* text : {"", "{", "[]", "{}", R"({"pages": [], "qpdf": [{}, {}]})",
                           R"({"pages": [], "qpdf": [{"maxobjectid": -1}, {}]})",
                           R"({"pages": {}, "qpdf": [{"maxobjectid": 1}, {}]})"}) {
    EXPECT_THROW(PdfUpdate{text}, Error) << text;
  }
  EXPECT_THROW(UpdateOf(Description(), {Page(3)}), Error);
  const auto refused = [](const std::string& pointer, const Json& value) {
    Json description = Description();
    description[Json::json_pointer(pointer)] = value;
    try {
      UpdateOf(description, {Page(2)});
    } catch (const Error& e) {
      return e.kind() == ErrorKind::kInput;
    }
    return false;
  };
  EXPECT_TRUE(refused("/pages/1", "x"));
  EXPECT_TRUE(refused("/pages/1/object", 3));
  EXPECT_TRUE(refused("/pages/1/object", "99 0 R"));
  EXPECT_TRUE(refused("/pages/1/contents", "5 0 R"));
  EXPECT_TRUE(refused("/qpdf/1/obj:4 0 R/value", 1));
  EXPECT_TRUE(refused("/qpdf/1/obj:2 0 R/value/~1MediaBox", "2 0 R"));
  EXPECT_TRUE(refused("/qpdf/1/obj:2 0 R/value/~1MediaBox", Json::parse("[0, 0, 0, 0]")));
  EXPECT_TRUE(refused("/qpdf/1/obj:2 0 R/value/~1MediaBox", Json::parse("[0, 0, 1e300, 1]")));
  // A page that is its own parent, and a reference to itself.
  EXPECT_TRUE(refused("/qpdf/1/obj:4 0 R/value/~1Parent", "4 0 R"));
  EXPECT_TRUE(refused("/qpdf/1/obj:6 0 R/value", "6 0 R"));
}

}  // namespace
}  // namespace platen
