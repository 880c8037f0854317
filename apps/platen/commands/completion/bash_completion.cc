#include "apps/platen/commands/completion/completion.h"
#include "apps/platen/commands/completion/known_words.h"

namespace platen {
namespace {

// COMP_WORDS has the = of --option=value as a word of its own, unless the user has changed that.
constexpr char kComplete[] = R"bash(
# Offers the known words that begin with $2, each after $1.
_platen_offer() {
  local word quoted
  for word in "${known[@]}"; do
    [[ $word == "$2"* ]] || continue
    printf -v quoted %q "$word"
    COMPREPLY+=("$1$quoted")
  done
}

# Of a list with commas: what is written stays, and nothing is offered twice.
_platen_offer_list() {
  local written=$1${2%"${2##*,}"} given=,$2 word left=()
  for word in "${known[@]}"; do
    [[ ${given%,*}, == *",$word,"* ]] || left+=("$word")
  done
  known=("${left[@]}")
  compopt -o nospace
  _platen_offer "$written" "${2##*,}"
}

_platen() {
  local kind='' known=() about=() before='' command=''
  local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD-2]}
  elif [[ $cur == --*=* ]]; then
    option=${cur%%=*} before=$option= cur=${cur#*=}
  fi
  ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}
  if ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[2]} != -* ]] &&
    _platen_known "$command ${COMP_WORDS[2]}"; then
    command+=" ${COMP_WORDS[2]}"
  fi
  if [[ $option == -?* ]] && _platen_known "$command $option"; then
    :
  elif [[ $cur == -* ]]; then
    _platen_known "$command -"
  else
    _platen_known "$command"
  fi
  case $kind in
    options|choice) _platen_offer "$before" "$cur" ;;
    list) _platen_offer_list "$before" "$cur" ;;
    files) compopt -o default ;;
    folder) compopt -o dirnames ;;
  esac
}
complete -F _platen platen
)bash";

}  // namespace

std::string BashCompletion(const std::vector<CommandGroup>& groups) {
  return "# Completion of platen for bash, made by: platen completion bash\n" +
         KnownWords(groups, Texts::kNo) + kComplete;
}

}  // namespace platen
