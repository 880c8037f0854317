// One recorded region on the page of tune-mtp inspect.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "apps/platen/commands/tune/inspect/inspected.h"
#include "apps/platen/commands/tune/inspect/region_pictures.h"
#include "stages/formats/xml_writer.h"

namespace platen {

// The bytes of a token; empty: it has none.
using BytesOfToken = std::function<std::string_view(TokenId)>;

// As text of the page, every byte of it to be seen.
std::string ChipText(TokenId id, const BytesOfToken& bytes_of);

struct ShownRegion {
  const TrainingPage* page = nullptr;
  size_t index = 0;  // in each side's regions
  RegionPicture picture;
};

// Heading, picture, the text as each side's drafts got it, and the last side's slots.
void WriteRegion(const ShownRegion& region, const std::vector<InspectedSide>& sides,
                 const BytesOfToken& bytes_of, XmlWriter& xml);

}  // namespace platen
