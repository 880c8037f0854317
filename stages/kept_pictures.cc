#include "stages/kept_pictures.h"

#include "model/support/nameless_file.h"

namespace platen {

KeptPictures::KeptPictures(const std::vector<std::string>& formats, const Folder& folder)
    : folder_(folder),
      upright_(Shows(formats, PageView::kUpright)),
      in_file_(Shows(formats, PageView::kInFile)) {}

bool KeptPictures::wants(PageView view) const {
  return view == PageView::kUpright ? upright_ : view == PageView::kInFile && in_file_;
}

void KeptPictures::Add(int page, PageView view, const EncodedImage& picture) {
  Kept kept = {picture.media_type, picture.width, picture.height, 0, picture.bytes.size()};
  {
    const std::lock_guard lock(mutex_);
    if (!file_) file_ = OpenNamelessFile(folder_);
    kept.offset = end_;
    end_ += kept.size;
  }
  WriteAll(file_.get(), picture.bytes, folder_.path(), static_cast<int64_t>(kept.offset));
  const std::lock_guard lock(mutex_);
  kept_.emplace(std::pair(page, view), std::move(kept));
}

std::optional<EncodedImage> KeptPictures::Find(int page, PageView view) const {
  Kept kept;
  {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find({page, view});
    if (found == kept_.end()) return std::nullopt;
    kept = found->second;
  }
  return EncodedImage{kept.media_type, ReadAll(file_.get(), kept.offset, kept.size, folder_.path()),
                      kept.width, kept.height};
}

}  // namespace platen
