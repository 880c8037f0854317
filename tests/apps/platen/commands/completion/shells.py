"""Shells that complete a line as they do for a user who types it."""

import os
import pty
import select
import shutil
import subprocess
import time

BEGIN, END = "<<begin>>", "<<end>>"
PROMPT = "prompt> "


class Typed:
    """An interactive shell behind a terminal. Its set-up binds ^X^A to writing all completions into
    the line, ^X^G to printing the line between BEGIN and END: no keys that a terminal takes for
    itself, for it does that until the shell has its prompt."""

    def __init__(self, command, setup, folder, environment):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, {**environment, "TERM": "dumb", "PS1": PROMPT, "PS2": ""})
        self.type(setup + "\necho set\\ up\n")
        self.read_until("set up\n" + PROMPT)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, end, limit_s=60):
        text, deadline = "", time.monotonic() + limit_s
        while end not in text.replace("\r", ""):
            ready, _, _ = select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no {end!r} in what the shell printed: {text!r}")
            text += os.read(self.terminal, 65536).decode(errors="replace")
        return text.replace("\r", "")

    def line_after(self, typed, keys):
        self.type(typed + keys + "\x18\x07")
        text = self.read_until(END)
        return text.split(BEGIN)[1].split(END)[0]

    def all(self, typed):
        """The line with every completion of its last word in its place."""
        return self.line_after(typed, "\x18\x01")

    def tab(self, typed):
        return self.line_after(typed, "\t")

    def close(self):
        os.close(self.terminal)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


def environment(folder):
    return {"PATH": os.environ["PATH"], "HOME": os.path.dirname(folder), "LC_ALL": "C.UTF-8"}


def bash(script, folder):
    setup = f"""
bind 'set enable-bracketed-paste off'
bind 'set bell-style none'
show_line() {{ printf '%s%s' '<<begin>''>' "$READLINE_LINE"; echo '<<end>''>'; READLINE_LINE= READLINE_POINT=0; }}
bind '"\\C-x\\C-a": insert-completions'
bind -x '"\\C-x\\C-g": show_line'
source {script}"""
    return Typed(["bash", "--norc", "--noprofile", "-i"], setup, folder,
                 {**environment(folder), "INPUTRC": "/dev/null"})


def zsh(script, folder):
    setup = f"""
unsetopt zle_bracketed_paste prompt_cr prompt_sp banghist; unset zle_bracketed_paste
autoload -U compinit; compinit -u -D
source {script}
show_line() {{ print -rn -- '<<begin>''>'"$BUFFER"; print '<<end>''>'; BUFFER= }}
zle -N show_line; bindkey '^X^G' show_line
zle -C all_matches complete-word _generic; bindkey '^X^A' all_matches
zstyle ':completion:all_matches::::' completer _all_matches _complete
zstyle ':completion:all_matches:*' insert true
bindkey '^I' complete-word"""
    return Typed(["zsh", "-f", "-i"], setup, folder, environment(folder))


class Fish:
    """fish says itself what it would offer."""

    def __init__(self, script, folder):
        self.script, self.folder = script, folder

    def offers(self, typed):
        quoted = typed.replace("\\", "\\\\").replace("'", "\\'")
        run = subprocess.run(
            ["fish", "--no-config", "-c", f"source {self.script}; complete -C '{quoted}'"],
            cwd=self.folder, env=environment(self.folder), capture_output=True, text=True,
            check=True)
        assert run.stderr == "", run.stderr
        return [line.split("\t")[0] for line in run.stdout.splitlines()]

    def close(self):
        pass


def is_there(shell):
    return shutil.which(shell) is not None
