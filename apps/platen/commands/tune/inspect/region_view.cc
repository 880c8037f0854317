#include "apps/platen/commands/tune/inspect/region_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/platen/commands/tune/inspect/token_text.h"
#include "model/support/grouped.h"
#include "stages/formats/base64.h"

namespace platen {
namespace {

constexpr int64_t kMostSlots = 300;
constexpr int64_t kTail = 6;  // tokens of context

std::string Percent(float share) { return fmt::format("{:.0f} %", 100 * share); }

class RegionWriter {
 public:
  RegionWriter(const ShownRegion& region, const std::vector<InspectedSide>& sides,
               const BytesOfToken& bytes_of, XmlWriter& xml)
      : region_(region), page_(*region.page), sides_(sides), bytes_of_(bytes_of), xml_(xml) {}

  void Write() {
    xml_.Open("section", {{"class", "region"}});
    WriteHeading();
    WritePicture();
    for (const InspectedSide& side : sides_) WriteText(side);
    WriteSlots(sides_.back());
    xml_.Close();
  }

 private:
  int64_t answer() const { return page_.length() - page_.prompt; }
  TokenId AnswerToken(int64_t t) const { return page_.ids[static_cast<size_t>(page_.prompt + t)]; }
  std::string Chip(TokenId id) const { return ChipText(id, bytes_of_); }

  void WriteHeading() {
    const auto place = ParsePlace(page_.place);
    const std::string where =
        place ? fmt::format("page {}, region {}", place->page, place->crop + 1) : page_.place;
    xml_.Open("h3");
    xml_.Leaf("bdi", {}, page_.document);
    xml_.Leaf("span", {{"class", "soft"}}, where);
    xml_.Close();
  }

  void WritePicture() {
    const RegionPicture& picture = region_.picture;
    if (!picture.image) {
      xml_.Leaf("p", {{"class", "soft"}}, "No picture: " + picture.missing + ".");
      return;
    }
    xml_.Empty(
        "img",
        {{"alt", picture.whole_page ? "The page as scanned" : "The region as scanned"},
         {"width", std::to_string(picture.image->width)},
         {"height", std::to_string(picture.image->height)},
         {"src", "data:" + picture.image->media_type + ";base64," + Base64(picture.image->bytes)}});
    if (picture.whole_page) {
      xml_.Leaf("p", {{"class", "soft"}},
                "The whole page: where on it the region stands could not be told.");
    }
  }

  void WriteText(const InspectedSide& side) {
    const PageDrafts& drafts = side.regions[region_.index];
    const std::vector<TokenFate> fates = FatesOf(drafts.hits, side.drafts);
    const FateCounts counts = CountFates(fates);
    const Rounds rounds = Replay(drafts.hits, side.drafts);
    xml_.Open("p");
    xml_.Leaf("b", {}, side.name + ":");
    xml_.Leaf("span", {},
              fmt::format("{} accepted, {} rejected, {} by the model alone; {}, {:.2f} tokens a "
                          "round.",
                          Counted(counts.accepted, "draft"), Grouped(counts.rejected),
                          Counted(counts.target, "token"), Counted(rounds.rounds, "round"),
                          rounds.tokens_per_round()));
    xml_.Close();
    xml_.Open("div", {{"class", "tokens"}});
    for (int64_t t = 0; t < answer(); ++t) {
      WriteToken(t, fates[static_cast<size_t>(t)], drafts);
    }
    xml_.Close();
  }

  void WriteToken(int64_t t, const TokenFate& fate, const PageDrafts& drafts) {
    const std::string_view bytes = bytes_of_(AnswerToken(t));
    const std::string text = bytes.empty() ? Chip(AnswerToken(t)) : ReadableToken(bytes);
    const auto drafted = [&]() -> const DraftedToken& {
      return drafts.drafts[static_cast<size_t>(fate.step)][static_cast<size_t>(fate.row)];
    };
    switch (fate.kind) {
      case TokenFate::Kind::kTarget:
        xml_.Leaf("span", {{"class", "own"}}, text);
        break;
      case TokenFate::Kind::kAccepted:
        xml_.Leaf(
            "span",
            {{"class", "hit"},
             {"title", fmt::format("draft {}, {}", fate.step + 1, Percent(drafted().probability))}},
            text);
        break;
      case TokenFate::Kind::kRejected:
        xml_.Open("span", {{"class", "miss"},
                           {"title", fmt::format("draft {}, {}; what stands there {}",
                                                 fate.step + 1, Percent(drafted().probability),
                                                 Percent(drafted().probability_of_label))}});
        xml_.Leaf("del", {}, Chip(drafted().token));
        xml_.Leaf("ins", {}, text);
        xml_.Close();
        break;
    }
    if (bytes == "\n") xml_.Leaf("span", {{"class", "break"}}, "");
  }

  void WriteSlots(const InspectedSide& side) {
    const PageDrafts& drafts = side.regions[region_.index];
    const int64_t slots = side.drafts > 0 ? std::ssize(drafts.drafts[0]) : 0;
    if (slots == 0) return;
    const std::vector<TokenFate> fates = FatesOf(drafts.hits, side.drafts);
    xml_.Open("details");
    xml_.Leaf("summary", {},
              fmt::format("What was drafted behind each token, {}{}", side.name,
                          slots > kMostSlots
                              ? fmt::format(" (the first {} of {})", kMostSlots, Grouped(slots))
                              : ""));
    xml_.Open("div", {{"class", "wide"},
                      {"tabindex", "0"},
                      {"role", "region"},
                      {"aria-label", "Drafts of " + page_.document + ", " + page_.place}});
    xml_.Open("table", {{"class", "slots"}});
    WriteSlotHead(side.drafts);
    for (int64_t r = 0; r < std::min(slots, kMostSlots); ++r) {
      // A round begins at a row whose next token is the round's first.
      const TokenFate& next = fates[static_cast<size_t>(r + 1)];
      WriteSlot(r, next.row == r, drafts, side.drafts);
    }
    xml_.Close();
    xml_.Close();
    xml_.Close();
  }

  void WriteSlotHead(int drafts) {
    xml_.Open("tr");
    xml_.Leaf("th", {}, "round");
    xml_.Leaf("th", {}, "text so far");
    xml_.Leaf("th", {}, "expected next");
    for (int d = 1; d <= drafts; ++d) xml_.Leaf("th", {}, fmt::format("draft {}", d));
    xml_.Close();
  }

  // The last tokens up to the answer's token r, characters of several tokens whole.
  std::string TailAt(int64_t r) const {
    std::string text = r + 1 > kTail ? "…" : "", bytes;
    for (int64_t t = std::max<int64_t>(0, r + 1 - kTail); t <= r; ++t) {
      const std::string_view token = bytes_of_(AnswerToken(t));
      bytes += token;
      if (token.empty()) text += VisibleText(std::exchange(bytes, "")) + Chip(AnswerToken(t));
    }
    return text + VisibleText(bytes);
  }

  void WriteSlot(int64_t r, bool begins, const PageDrafts& drafts, int steps) {
    xml_.Open("tr", {{"class", begins ? "begins" : "between"}});
    xml_.Leaf("td", {{"class", "mark"}}, begins ? "begins" : "");
    xml_.Open("td");
    xml_.Leaf("bdi", {{"class", "tail"}}, TailAt(r));
    xml_.Close();
    xml_.Open("td");
    for (int64_t t = r + 1; t < std::min(answer(), r + 1 + steps); ++t) {
      xml_.Leaf("bdi", {{"class", "chip"}}, Chip(AnswerToken(t)));
    }
    xml_.Close();
    bool looked_at = true;
    for (int d = 0; d < steps; ++d) looked_at = WriteDraft(r, d, looked_at, drafts);
    xml_.Close();
  }

  // `looked_at`: the drafts before it are right. True: so is this one.
  bool WriteDraft(int64_t r, int d, bool looked_at, const PageDrafts& drafts) {
    const auto step = static_cast<size_t>(d), row = static_cast<size_t>(r);
    if (row >= drafts.drafts[step].size()) {
      xml_.Leaf("td", {}, "");
      return false;
    }
    const DraftedToken& drafted = drafts.drafts[step][row];
    const bool right = drafts.hits.hits[step][row] != 0;
    xml_.Open("td", {{"class", !looked_at ? "void" : right ? "right" : "wrong"}});
    xml_.Leaf("span", {{"class", "mark"}}, !looked_at ? "–" : right ? "✓" : "✗");
    xml_.Leaf("bdi", {{"class", "chip"}}, Chip(drafted.token));
    xml_.Leaf("span", {{"class", "p"}}, Percent(drafted.probability));
    if (looked_at && !right) {
      xml_.Leaf("span", {{"class", "p"}},
                "(expected: " + Percent(drafted.probability_of_label) + ")");
    }
    xml_.Close();
    return looked_at && right;
  }

  const ShownRegion& region_;
  const TrainingPage& page_;
  const std::vector<InspectedSide>& sides_;
  const BytesOfToken& bytes_of_;
  XmlWriter& xml_;
};

}  // namespace

std::string ChipText(TokenId id, const BytesOfToken& bytes_of) {
  const std::string_view bytes = bytes_of(id);
  return bytes.empty() ? fmt::format("#{}", id) : VisibleToken(bytes);
}

void WriteRegion(const ShownRegion& region, const std::vector<InspectedSide>& sides,
                 const BytesOfToken& bytes_of, XmlWriter& xml) {
  RegionWriter(region, sides, bytes_of, xml).Write();
}

}  // namespace platen
