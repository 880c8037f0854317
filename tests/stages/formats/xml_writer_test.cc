#include "stages/formats/xml_writer.h"

#include <gtest/gtest.h>

#include "stages/formats/decimal.h"

namespace platen {
namespace {

TEST(XmlWriter, WritesElementsAndWhatIsOpenStaysOpen) {
  XmlWriter xml;
  xml.Declare();
  xml.Open("a", {{"x", "1 < \"2\""}, {"y", ""}});
  xml.Leaf("b", {}, "<&>");
  const std::string first = xml.Take();
  xml.Empty("c", {{"z", "\n"}});
  xml.Open("d");
  xml.CloseAll();
  EXPECT_EQ(first,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a x=\"1 &lt; &quot;2&quot;\" y=\"\">\n"
            " <b>&lt;&amp;&gt;</b>\n");
  EXPECT_EQ(xml.Take(), " <c z=\"&#10;\"/>\n <d>\n </d>\n</a>\n");
  EXPECT_EQ(xml.Take(), "");
}

TEST(XmlWriter, CharactersThatXmlDoesNotKnowAreReplaced) {
  const std::string kept = "\u00e9\u4e2d\U0001F600\uFFFD";
  EXPECT_EQ(EscapeXmlText(kept), kept);
  EXPECT_EQ(EscapeXmlText(std::string("a\0b", 3)), "a\uFFFDb");
  EXPECT_EQ(EscapeXmlText("\x01\x1F\x0B\t\n\r\x7F"), "\uFFFD\uFFFD\uFFFD\t\n&#13;\x7F");
  EXPECT_EQ(EscapeXmlText("\xEF\xBF\xBE \xEF\xBF\xBF"), "\uFFFD \uFFFD");
  EXPECT_EQ(EscapeXmlText("\xED\xA0\x80 \xFF"), "\uFFFD\uFFFD\uFFFD \uFFFD");
  EXPECT_EQ(EscapeXmlValue("\t\r\n'"), "&#9;&#13;&#10;'");
}

TEST(XmlWriter, CommentsEndWhereTheyShould) {
  XmlWriter xml;
  xml.Comment("a --> b --- <c>-");
  EXPECT_EQ(xml.Take(), "<!-- a - -&gt; b - - - &lt;c&gt;- -->\n");
}

TEST(Decimal, HasNoTrailingZerosAndNoExponent) {
  EXPECT_EQ(Decimal(1.25, 1), "1.2");
  EXPECT_EQ(Decimal(0.5, 4), "0.5");
  EXPECT_EQ(Decimal(3, 2), "3");
  EXPECT_EQ(Decimal(100, 0), "100");
  EXPECT_EQ(Decimal(-0.00001, 4), "0");
  EXPECT_EQ(Decimal(1e20, 1), "100000000000000000000");
  EXPECT_EQ(Decimal(1e308, 0).size(), 309U);
  EXPECT_EQ(Decimal(0.0 / 0.0, 4), "0");
}

}  // namespace
}  // namespace platen
