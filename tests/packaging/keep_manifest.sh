# shellcheck shell=bash
# Sourced by tests that install from a build folder: keep_manifest BUILD KEPT moves what BUILD knows of
# an installation to the folder KEPT, give_manifest_back BUILD KEPT brings it back, so that its target
# uninstall still finds what its user has installed.
keep_manifest() {
  mkdir -p "$2"
  for name in install_manifest.txt installed_folders.txt; do
    if [[ -e $1/$name ]]; then mv "$1/$name" "$2/$name"; fi
  done
}

give_manifest_back() {
  for name in install_manifest.txt installed_folders.txt; do
    rm -f "$1/$name"
    if [[ -e $2/$name ]]; then mv "$2/$name" "$1/$name"; fi
  done
}
