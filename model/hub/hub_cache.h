// The folder in which the programs of the Hugging Face hub keep downloaded models, and the models
// in it by name. Nothing here goes to the network or writes.
//
//   CACHE/models--owner--name/refs/main                    40 digits of a commit
//                             snapshots/COMMIT/config.json  a link to ../../blobs/DIGEST
//                             blobs/DIGEST
//
// Thread-safe while nobody changes the environment.
#pragma once

#include <string>

#include "model/hub/model_name.h"

namespace platen {

// HF_HUB_CACHE, else HF_HOME/hub, XDG_CACHE_HOME/huggingface/hub, HOME/.cache/huggingface/hub.
// Throws Error(kEnvironment) if none of the variables is set.
std::string HubCacheFolder();

// "models--owner--name".
std::string CacheFolderName(const ModelName& model);

// The snapshot folder of a model in `cache`. Throws Error(kModel) that says how to get it if it is
// not there or not whole, and for a cache that leads out of the model's folder.
std::string FindCachedSnapshot(const std::string& cache, const ModelName& model);

// Whether a snapshot folder lies in such a cache: only what the hub has sent belongs there.
bool LiesInHubCache(const std::string& model_dir);

// "; platen fetch owner/name downloads it" if `given` looks like one, else empty.
std::string FetchHint(const std::string& given);

// The folder of a model that the user has named: `given` itself if there is something of that path,
// else the snapshot of "owner/name[@revision]" in the cache. Throws Error(kModel).
std::string ResolveModelFolder(const std::string& given);

}  // namespace platen
