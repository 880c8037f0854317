#include "apps/platen/commands/completion/completion.h"
#include "apps/platen/commands/completion/known_words.h"

namespace platen {
namespace {

constexpr char kComplete[] = R"zsh(
# Offers the known words, each beside what it is.
_platen_offer() {
  local -a shown
  local -i i
  for ((i = 1; i <= $#about; ++i)); do shown+=("${(r:24:)known[i]} $about[i]"); done
  if (($#about)); then
    compadd -l -d shown -a known
  else
    compadd -a known
  fi
}

# Of a list with commas: what is written stays, and nothing is offered twice.
_platen_offer_list() {
  local -a given
  given=("${(@s:,:)${PREFIX%,*}}")
  if compset -P '*,'; then known=("${(@)known:|given}"); fi
  compadd -S '' -a known
}

_platen() {
  local kind command option
  local -a known about
  if ((CURRENT > 2)); then command=$words[2]; fi
  if ((CURRENT > 3)) && [[ $words[3] != -* ]] && _platen_known "$command $words[3]"; then
    command+=" $words[3]"
  fi
  option=$words[CURRENT-1]
  if [[ $PREFIX == --*=* ]]; then
    option=${PREFIX%%=*}
    compset -P '*='
  fi
  if [[ $option == -?* ]] && _platen_known "$command $option"; then
    :
  elif [[ $PREFIX == -* ]]; then
    _platen_known "$command -"
  else
    _platen_known "$command"
  fi
  case $kind in
    options|choice) _platen_offer ;;
    list) _platen_offer_list ;;
    files) _files ;;
    folder) _path_files -/ ;;
    text) _message value ;;
  esac
}

if [[ $funcstack[1] == _platen ]]; then
  _platen "$@"
else
  compdef _platen platen
fi
)zsh";

}  // namespace

std::string ZshCompletion(const std::vector<CommandGroup>& groups) {
  return "#compdef platen\n# Completion of platen for zsh, made by: platen completion zsh\n" +
         KnownWords(groups, Texts::kYes) + kComplete;
}

}  // namespace platen
