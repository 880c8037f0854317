// The page of tune-mtp inspect: what stands on it, and that hostile text is text, also in a
// browser.
#include "apps/platen/commands/tune/inspect/inspect_page.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <regex>

#include "tests/apps/platen/commands/tune/made_up_drafts.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {
namespace {

const std::vector<std::string> kTokens = {
    "<prompt>",
    "word",
    " and",
    "<script>window.ran = 1</script>",
    "</bdi><img src=\"http://a.invalid/x\" onerror=\"ran=1\">",
    "\"><svg onload='ran=1'>",
    "</style><iframe src=//b.invalid></iframe>",
    "\xE2\x80\xAE evil",
    "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D",
    "\xFF\xC3(",
    std::string("\x01\0\x1b[2J", 6),
    "\n",
    "",
};

// All tokens one after another, twice; drafts are right but for every fifth.
struct MadeUp {
  explicit MadeUp(int regions = 2) {
    std::vector<TokenId> answer;
    for (int i = 0; i < 26; ++i) answer.push_back(static_cast<TokenId>(i % 13));
    for (int i = 0; i < regions; ++i) {
      pages.push_back(
          MakeRegion(i % 2 ? "<b>\"a\" \xD7\xA9" : "b.png", "1/" + std::to_string(i), answer));
    }
    std::vector<PageDrafts> before, after;
    for (const TrainingPage& page : pages) {
      before.push_back(Drafts(page, 3));
      after.push_back(Drafts(page, 5));
    }
    facts.folder = "work/<i>";
    facts.notes = {"A note </p><script>"};
    facts.documents = 2;
    facts.regions = regions;
    facts.sides.push_back(SideOf("before training", std::move(before), 3));
    facts.sides.push_back(SideOf("after training", std::move(after), 3));
    std::vector<const TrainingPage*> pointers;
    for (const TrainingPage& page : pages) pointers.push_back(&page);
    facts.misses = FrequentMisses(pointers, facts.sides.back(), 20);
    for (const size_t i : MostMissed(facts.sides.back(), 1000)) {
      facts.shown.push_back({pointers[i], i, {std::nullopt, false, "the scan is <gone>"}});
    }
    facts.curves = {40, {{{1, 4}, {40, 1}}, {{1, 5}, {40, 2}}}, {{20, 1.5}, {40, 1.8}}};
    facts.bytes_of = [](TokenId id) -> std::string_view {
      return kTokens[static_cast<size_t>(id)];
    };
  }

  static PageDrafts Drafts(const TrainingPage& page, size_t wrong_every) {
    std::vector<std::vector<TokenId>> drafts(3);
    for (size_t d = 0; d < 3; ++d) {
      for (size_t label = 2 + d; label < page.ids.size(); ++label) {
        const bool wrong = label % wrong_every == 0;
        drafts[d].push_back(wrong ? (page.ids[label] + 5) % 13 : page.ids[label]);
      }
    }
    return MakeDrafts(page, drafts);
  }

  FateCounts Counts() const {
    FateCounts all;
    for (const InspectedSide& side : facts.sides) {
      for (const PageDrafts& region : side.regions) {
        const FateCounts counts = CountFates(FatesOf(region.hits, side.drafts));
        all.accepted += counts.accepted;
        all.rejected += counts.rejected;
        all.target += counts.target;
      }
    }
    return all;
  }

  std::vector<TrainingPage> pages;
  InspectFacts facts;
};

int64_t Count(const std::string& text, const std::string& part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

bool HasChromium() { return std::system("command -v chromium >/dev/null 2>&1") == 0; }

// What a browser makes of the page, and what it asked the network for.
struct Browsed {
  std::string dom, net;
};
Browsed Browse(const std::string& html) {
  const TempFolder folder;
  const std::string page = folder.Write("page.html", html);
  const std::string command =
      "chromium --headless --no-sandbox --disable-gpu --no-first-run "
      "--disable-background-networking --disable-component-update --user-data-dir=" +
      (folder / "profile") + " --log-net-log=" + (folder / "net.json") + " --dump-dom file://" +
      page + " >" + (folder / "dom.html") + " 2>/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
  return {ReadFile(folder / "dom.html"), ReadFile(folder / "net.json")};
}

TEST(InspectPageTest, HasItsPartsInTheirOrder) {
  const std::string page = InspectPage(MadeUp().facts);
  size_t at = 0;
  for (const char* part :
       {"Content-Security-Policy", "tokens a round before training",
        "tokens a round after training", "Acceptance by position", "draft 3", "Loss of each draft",
        "Tokens a round", "Most frequent first misses", "Regions with the most misses",
        "class=\"legend\"", "No picture: the scan is &lt;gone&gt;.", "before training:",
        "after training:", "What was drafted behind each token, after training", "</html>"}) {
    const size_t found = page.find(part, at);
    ASSERT_NE(found, std::string::npos) << part;
    at = found;
  }
  EXPECT_EQ(page, InspectPage(MadeUp().facts));
}

// Heads make fewer drafts than the model's own layer, or more.
TEST(InspectPageTest, ComparesRoundsOfAsManyDrafts) {
  MadeUp made;
  InspectedSide& fewer = made.facts.sides[0];
  for (PageDrafts& region : fewer.regions) {
    region.hits.hits.resize(2);
    region.drafts.resize(2);
  }
  fewer = SideOf(fewer.name, fewer.regions, 2);
  const std::vector<Rounds>& more = made.facts.sides[1].acceptance.rounds;
  ASSERT_NE(more[1].tokens_per_round(), more[2].tokens_per_round());
  const std::string page = InspectPage(made.facts);
  for (const InspectedSide& side : made.facts.sides) {
    char value[16];
    std::snprintf(value, sizeof(value), "%.3f", side.acceptance.rounds[1].tokens_per_round());
    const size_t at = page.find("tokens a round " + side.name + ", with 2 drafts");
    ASSERT_NE(at, std::string::npos) << side.name;
    EXPECT_NE(page.substr(at - 100, 100).find(value), std::string::npos) << side.name;
  }
}

TEST(InspectPageTest, MarksAreWhatIsCounted) {
  const MadeUp made;
  const std::string page = InspectPage(made.facts);
  const FateCounts counts = made.Counts();
  EXPECT_GT(counts.rejected, 10);
  EXPECT_EQ(Count(page, "class=\"hit\""), counts.accepted);
  EXPECT_EQ(Count(page, "class=\"miss\""), counts.rejected);
  EXPECT_EQ(Count(page, "class=\"own\""), counts.target);
}

// A slot's drafts are right up to the first wrong one, and none behind it.
TEST(InspectPageTest, DraftsBehindAWrongOneAreNotJudged) {
  MadeUp made(1);
  const std::string page = InspectPage(made.facts);
  const Acceptance& all = made.facts.sides.back().acceptance;
  int64_t right = 0, tried = 0, drafts = 0;
  for (size_t d = 0; d < 3; ++d) {
    right += all.right[d];
    tried += all.tried[d];
    drafts += std::ssize(made.facts.sides.back().regions[0].drafts[d]);
  }
  EXPECT_EQ(Count(page, "<td class=\"right\">"), right);
  EXPECT_EQ(Count(page, "<td class=\"wrong\">"), tried - right);
  EXPECT_EQ(Count(page, "<td class=\"void\">"), drafts - tried);
  EXPECT_EQ(Count(page, "(expected: 25 %)"), tried - right);
  EXPECT_EQ(Count(page, "<tr class=\"begins\">"), all.rounds[2].rounds);
}

TEST(InspectPageTest, SaysWhatIsNotThere) {
  MadeUp made;
  made.facts.sides.erase(made.facts.sides.begin());
  made.facts.curves = {};
  made.facts.misses.clear();
  made.facts.shown.pop_back();
  const std::string page = InspectPage(made.facts);
  for (const char* part : {"There is no log of a training.", "None: every draft was right.",
                           "1 of 2 are shown (--regions)."}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(page.find("before training"), std::string::npos);
}

TEST(InspectPageTest, HostileTextIsText) {
  const std::string page = InspectPage(MadeUp().facts);
  for (const char* part : {"<script", "<iframe", "<svg onload", "<img", "\x01", "\x1b",
                           "\xE2\x80\xAE", "<b>\"a\"", "<i>"}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
  for (const char* part : {"\\u{202E}␣evil", "\\xFF\\xC3(", "\\x01\\x00\\x1B[2J", "#12", "↵"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

TEST(InspectPageTest, ABrowserShowsEveryMarkAndAsksForNothing) {
  if (!HasChromium()) GTEST_SKIP() << "no chromium";
  const MadeUp made;
  const Browsed browsed = Browse(InspectPage(made.facts));
  EXPECT_EQ(Count(browsed.dom, "class=\"hit\""), made.Counts().accepted);
  EXPECT_EQ(Count(browsed.dom, "class=\"miss\""), made.Counts().rejected);
  EXPECT_EQ(Count(browsed.dom, "<section"), 2);
  for (const char* part : {"<script", "<iframe", "<img", "<link", "<object"}) {
    EXPECT_EQ(Count(browsed.dom, part), 0) << part;
  }
  EXPECT_EQ(Count(browsed.net, ".invalid"), 0);
}

TEST(InspectPageTest, TheCheckInABrowserCanFail) {
  if (!HasChromium()) GTEST_SKIP() << "no chromium";
  std::string page = InspectPage(MadeUp().facts);
  page = std::regex_replace(page, std::regex("<meta http-equiv[^>]*>"), "");
  page.insert(page.find("<h1>"), "<img src=\"http://a.invalid/x\">");
  const Browsed browsed = Browse(page);
  EXPECT_EQ(Count(browsed.dom, "<img"), 1);
  EXPECT_GT(Count(browsed.net, "a.invalid"), 0);
}

}  // namespace
}  // namespace platen::testing
