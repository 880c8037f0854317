// How pages are read, as the options of platen ocr say it; also of platen compare.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/platen/cli/settings.h"
#include "stages/formats/page_result.h"
#include "stages/formats/render_options.h"
#include "stages/inputs/discover.h"
#include "stages/layout/read_options.h"
#include "stages/readers/document_reader.h"

namespace platen {

// ReadLimits::pdf_dpi of a value of --dpi; one that is out of range is brought into it.
int PdfDpiFrom(const std::string& value);

ReadLimits ReadLimitsFrom(const Settings& settings);

// Of --pages; empty: all. Throws Error(kUsage).
std::vector<PageRange> PagesFrom(const Settings& settings);

// Opens a document as it was opened when its pages were read with these settings, so that a picture
// shows what their boxes are of. Throws as DocumentReader::Open.
std::unique_ptr<DocumentReader> OpenAsRead(const std::string& path,
                                           const std::vector<DocumentSetting>& settings,
                                           const std::vector<std::string>& passwords);

// Of the file that --password-file names; none: it names none. Throws Error(kUsage).
std::vector<std::string> PasswordsFrom(const std::string& path);

// auto is to ignore where `task` asks for more than text.
TextLayerUse TextLayerFrom(const std::string& value, const std::string& task);

// Granularity of `--granularity`; auto: the model's. Throws Error(kUsage) for one that the model
// states it was not trained for, unless `--allow-untrained`.
Granularity GranularityFrom(const Settings& settings, const ReadingConfig& reading);

// What the options ask of the reading of every document. A task that is the default asks nothing:
// each region is read by its kind. Throws as GranularityFrom does.
ReadOptions ReadOptionsFrom(const Settings& settings, const ReadingConfig& reading);

// How outputs show what was read. Throws Error(kUsage) where `--keep` says none and something.
RenderOptions RenderOptionsFrom(const Settings& settings);

}  // namespace platen
