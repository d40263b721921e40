// long
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { ShellLexer, UnsafeContextError } from '../src/shell/lexer.ts'
import { renderCommand } from '../src/shell/render.ts'
import type { Piece } from '../src/template/value.ts'

/** `{{v}}` marks the places of the value. */
const pieces = (command: string, text: string): Piece[] =>
  command
    .split('{{v}}')
    .flatMap((part, index): Piece[] => [
      ...(index === 0 ? [] : [{ text, origin: 'data' as const, name: 'v' }]),
      ...(part === '' ? [] : [{ text: part, origin: 'author' as const }]),
    ])

const render = (command: string, text: string): string => renderCommand(pieces(command, text))

/** Every value escaped for its place, as it would be without a rule about what reads the place. */
const onlyEscaped = (command: string, text: string): string => {
  const lexer = new ShellLexer()
  for (const [index, piece] of pieces(command, text).entries()) {
    if (piece.origin === 'author') lexer.feed(piece.text)
    else lexer.value(piece.text, pieces(command, text)[index + 1]?.text ?? '')
  }
  return lexer.finish()
}

const HOSTILE = [
  'touch canary', 'a; touch canary', '$(touch canary)', '"; touch canary; "', "'; touch canary; '", "a'; touch canary #",
  'a\ntouch canary\n', 'a[$(touch canary)]', 'BEGIN { system("touch canary") }', 'import os; os.system("touch canary")',
  'system("touch canary")', 'require("child_process").execSync("touch canary")', '-oProxyCommand=touch canary', '/; 1e touch canary\n#',
  '.shell touch canary', '`touch canary`', '1e touch canary', './canary; touch canary', '$(shell touch canary)', '!touch canary', 'x" -exec touch canary ; "', '$(bash -c "touch canary")', '"; system("touch canary"); "',
] // prettier-ignore

/** Programs that hand text to a shell and are not on every machine do here what matters of them. */
const SUBSTITUTES: Readonly<Record<string, string>> = {
  ssh: 'for a; do case $a in -oProxyCommand=*) sh -c "${a#*=}" ;; esac; done; while [ "${1#-}" != "$1" ]; do case $1 in -o) sh -c "${2#ProxyCommand=}"; shift ;; esac; shift; done; shift; if [ $# = 0 ]; then exec sh; else exec sh -c "$*"; fi',
  crontab: 'sed "s/^. //" | sh',
  at: 'exec sh',
  parallel: 'while read -r line; do sh -c "$line"; done',
  watch: 'exec sh -c "$*"',
  sudo: 'while [ "${1#-}" != "$1" ]; do shift 2; done; exec "$@"',
  docker: 'shift 2; exec "$@"',
  su: 'shift; exec sh "$@"',
}

/** A value becomes code in each of them when it is only escaped for its place. */
const SINKS: Readonly<Record<string, string>> = {
  'here-document of a shell': 'sh <<EOF\necho {{v}}\nEOF',
  'quoted here-document of a shell': "sh <<'EOF'\necho {{v}}\nEOF",
  'here-document with more behind it': 'sh <<EOF && true\n{{v}}\nEOF',
  'here-document that is piped': 'cat <<EOF | sh\n{{v}}\nEOF',
  'here-document of python': 'cat <<EOF | python3\n{{v}}\nEOF',
  'here-document of a loop': 'while read -r line; do sh -c "$line"; done <<EOF\n{{v}}\nEOF',
  'here-document of a group': '{ sh; } <<EOF\n{{v}}\nEOF',
  'here-document that exec opens': 'exec <<EOF\n{{v}}\nEOF\nsh',
  'here-string': 'bash -s <<<"{{v}}"',
  'pipe to a shell': 'echo "{{v}}" | sh',
  'pipe to a shell in a subshell': 'echo "{{v}}" | (cd . && sh)',
  'pipe to a shell in a branch': 'echo "{{v}}" | if true; then sh; fi',
  'pipe to a function': 'f() { sh; }; echo "{{v}}" | f',
  'pipe through another program': 'printf "%s\\n" "{{v}}" | sort | bash -x',
  'pipe to a shell on another host': 'printf "%s\\n" "{{v}}" | ssh host sh',
  'pipe to the shell of another host': 'echo "{{v}}" | ssh host',
  'pipe to a shell behind other programs': 'echo "{{v}}" | sudo -u x env A=1 timeout 5 bash -s',
  'pipe to a shell with a name in a variable': 'S=sh; echo "{{v}}" | $S',
  'pipe to what reads a shell': 'echo "{{v}}" | { read -r y; eval "$y"; }',
  'pipe to xargs with a replacement': 'echo "{{v}}" | xargs -I@ sh -c "@"',
  'pipe to xargs and a shell without script': 'printf "%s\\0" "{{v}}" | xargs -0 sh -c',
  'pipe to parallel': 'echo "{{v}}" | parallel',
  'pipe to at': 'echo "{{v}}" | at now',
  'pipe to crontab': 'echo "* {{v}}" | crontab -',
  'pipe to perl': 'echo "{{v}}" | perl',
  'pipe to node': "echo '{{v}}' | node -",
  'program of awk on its input': 'echo "{{v}}" | awk -f - /dev/null',
  'program of sed on its input': 'echo a | sed -f <(echo "{{v}}")',
  'process substitution': 'bash <(echo "{{v}}")',
  'process substitution that is sourced': '. <(echo "{{v}}")',
  'process substitution that is written to': 'echo "{{v}}" | tee >(sh) | cat',
  'script of two parts': `sh -c "echo '"{{v}}"'"`,
  'script in a shell with a name in a variable': 'S=sh; $S -c "echo {{v}}"',
  'script in a variable': 'x="{{v}}"; sh -c "$x"',
  'script in a variable of a variable': 'x="echo {{v}}"; y=$x; bash -c "$y"',
  'script in a substitution': 'sh -c "$(echo "{{v}}")"',
  'script of su': 'su root -c "echo \'"{{v}}"\'"',
  'script of a shell in a container': `docker exec c sh -c "echo '"{{v}}"'"`,
  'script of find': `find . -maxdepth 0 -exec sh -c "echo "'{{v}}' \\;`,
  'script in a script': `sh -c "echo {{v}} | sh"`,
  'argument that a script evaluates': `sh -c 'eval "$1"' sh "{{v}}"`,
  'environment that a script evaluates': `A="{{v}}" sh -c 'eval "$A"'`,
  'argument of bash -s that its script evaluates': `bash -s -- "{{v}}" <<'EOF'\neval "$1"\nEOF`,
  'eval of parts': `eval "echo '" "{{v}}" "'"`,
  'eval of a variable': 'x="{{v}}"; eval $x',
  'eval of a substitution': 'eval "$(echo "{{v}}")"',
  'eval of a loop': 'for i in "{{v}}"; do eval "$i"; done',
  'eval in a function': 'f() { eval "$1"; }; f "{{v}}"',
  'command in a variable': 'x="{{v}}"; $x',
  trap: 'trap "echo {{v}}" EXIT',
  alias: 'shopt -s expand_aliases\nalias a="{{v}}"\na',
  'prompt of a trace': 'PS4="{{v}}"; set -x; :',
  'prompt of a trace through env': `bash -c 'PS4="$1"; set -x; :' sh "{{v}}"`,
  'prompt of bash': `export PROMPT_COMMAND="{{v}}"; echo : | bash --norc -i`,
  'file of the environment': 'echo "{{v}}" > e; BASH_ENV=./e bash -c :',
  'command of ssh behind another program': 'timeout 5 ssh host "echo {{v}}"',
  'commands of ssh in parts': `ssh host "echo '" "{{v}}" "'"`,
  'host of ssh': 'ssh "{{v}}" true',
  'proxy of ssh': 'ssh -o "ProxyCommand={{v}}" host true',
  watch: 'watch "echo {{v}}"',
  'program of python': 'python3 -c "{{v}}"',
  'program of perl': 'perl -e "{{v}}"',
  'program of node': 'node -e "{{v}}"',
  'program of awk': 'awk "{{v}}" /dev/null',
  'program of sed': 'echo a | sed "s/a/{{v}}/"',
  'index of an array': 'bash -c \'a=(1); x="$1"; echo $((x))\' sh "{{v}}"',
  'comparison of bash': 'x="{{v}}"; bash -c "[[ $x -eq 1 ]]"',
  'arithmetic with a variable': 'x="{{v}}"; echo $((x+1))',
  'arithmetic with a substitution': 'echo $(( $(echo "{{v}}") ))',
  'name of a variable': 'printf -v "{{v}}" x',
  'script that is run': 'echo "echo {{v}}" > x.sh; sh x.sh',
  'script from a here-document': 'cat > run.sh <<EOF\necho {{v}}\nEOF\nsh run.sh',
  'script without a name of one': 'echo "{{v}}" > job; chmod +x job; ./job',
  'script that is sourced': 'echo "{{v}}" > job; . ./job',
  'script that tee writes': 'echo "{{v}}" | tee job >/dev/null; sh job',
  'script that is moved': 'echo "{{v}}" > a; mv a b; sh ./b',
  'script with a name in a variable': 'f=$PWD/job; echo "{{v}}" > "$f"; sh "$f"',
  'script that is redirected': 'echo "{{v}}" > job; sh < job',
  'script that is printed': 'echo "{{v}}" > job; cat job | sh',
  'script that is evaluated': 'echo "{{v}}" > job; eval "$(cat job)"',
  'script behind another program': 'echo "{{v}}" > job; chmod 755 job; timeout 5 ./job',
  'line that read gets behind IFS': `echo "{{v}}" | while IFS= read -r x; do sh -c "$x"; done`,
  'line that a builtin read gets': `echo "{{v}}" | { command read -r x; eval "$x"; }`,
  'input in a variable': `echo "{{v}}" | { x=$(cat); eval "$x"; }`,
  'input in a substitution': 'echo "{{v}}" | sh -c "$(cat)"',
  'input that a script evaluates': `echo "{{v}}" | sh -c 'eval "$(cat)"'`,
  'input of a shell in a script': `echo "{{v}}" | sh -c 'cd .; sh'`,
  'input that is sourced': '. /dev/stdin <<EOF\n{{v}}\nEOF',
  'input with another number': 'sh /dev/fd/3 3<<EOF\n{{v}}\nEOF',
  'input with another number that exec opens': 'exec 3<<EOF\n{{v}}\nEOF\nsh <&3',
  'arguments of a loop without a list': `sh -c 'for x; do eval "$x"; done' sh "{{v}}"`,
  'last argument': `bash -c ': "$1"; eval "$_"' sh "{{v}}"`,
  'variable that read fills by itself': `echo "{{v}}" | bash -c 'read -r; eval "$REPLY"'`,
  'match of bash': `bash -c '[[ "$1" =~ .* ]]; eval "\${BASH_REMATCH[0]}"' sh "{{v}}"`,
  'variable with its name in another': `bash -c 'x="$1"; n=x; eval "\${!n}"' sh "{{v}}"`,
  'variable that a function prints': `x="{{v}}"; f() { echo "$x"; }; eval "$(f)"`,
  'variable that a function prints into a shell': `x="{{v}}"; f() { echo "$x"; }; f | sh`,
  'script that is read into a variable': `echo "{{v}}" > job; x=$(cat job); eval "$x"`,
  'script that xargs reads': 'echo "{{v}}" > job; xargs -I% sh -c % < job',
  'script that is printed into xargs': 'echo "{{v}}" > job; cat job | xargs -I% sh -c "%"',
  'script behind the end of options': `sh -c -- "echo '"{{v}}"'"`,
  'script behind more options': 'bash -c +x "{{v}}"',
  'program of sed that is attached': `echo a | sed -e's/a/{{v}}/'`,
  'program of perl that is attached': `perl -e'print "{{v}}"'`,
  'command that a substitution prints': '$(echo "{{v}}")',
  'command in a variable behind another program': 'x="{{v}}"; timeout 5 $x',
  'command that a substitution prints behind another program': 'env A=1 $(echo "{{v}}")',
  'command in a variable that find runs': 'x="{{v}}"; find . -maxdepth 0 -exec $x \\;',
  'command of env -S': 'env -S "{{v}}"',
  'option of ssh': 'ssh -o "{{v}}" host true',
  'setting of git': 'git init -q .; git config core.fsmonitor "{{v}}"; git status',
  'command of tar': 'echo > f; tar cf a.tar f; tar xf a.tar --to-command "{{v}}"',
  'compression of tar': 'echo > f; tar -I "{{v}}" -cf a.tar f',
  'input that awk runs': `echo "{{v}}" | awk '{ system($0) }'`,
  'input that awk pipes': `echo "{{v}}" | awk '{ print | "sh" }'`,
  'variable that awk runs': `awk -v x="{{v}}" 'BEGIN { system("echo " x) }'`,
  'input that sed runs': 'echo "{{v}}" | sed e',
  'input that perl runs': `echo "{{v}}" | perl -ne 'system($_)'`,
  'variable that is evaluated': `bash -c 'declare -i x; x="$1"' sh "{{v}}"`,
  'name that is tested': 'test -v "{{v}}"',
  'random number': 'RANDOM="{{v}}"',
  'words of compgen': 'compgen -W "{{v}}"',
  'script that dd writes': 'echo "{{v}}" | dd of=job; sh job',
  'script that sort writes': 'echo "{{v}}" | sort -o job; sh job',
  'script by a pattern': 'echo "{{v}}" > job1; sh job*',
  'file of makefile rules': 'printf "all:\\n\\t%s\\n" "{{v}}" > Makefile; sh -c "$(tail -n1 Makefile)"',
}

/** Also refused; what reads the place is not on every machine. */
const REFUSED: Readonly<Record<string, string>> = {
  'pipe to a database': 'echo "{{v}}" | psql -U x',
  'statement of a database': 'sqlite3 f.db "select \'{{v}}\'"',
  'pipe to an unknown command': 'echo "{{v}}" | $S',
  'script in an unknown shell': '$S -c "echo {{v}}"',
  'pipe to php': 'echo "{{v}}" | php',
  'program of ruby': 'ruby -e "puts {{v}}"',
  'program that is attached': 'node --eval="{{v}}"',
  'argument of bash -s that may be an option': 'bash -s "{{v}}" < script.sh',
  'file that is sourced': 'source "{{v}}"',
  'file that is run': 'python3 "{{v}}"',
  'keys of tmux': 'tmux send-keys "{{v}}" Enter',
  'action of tar': 'tar cf a.tar . --checkpoint-action=exec="{{v}}"',
  'script for later': 'printf "#!/bin/sh\\necho %s\\n" "{{v}}" > {{v}}/job',
  'script for later by its name': 'echo "curl {{v}}" >> probe.sh',
  'names of a profile': 'echo "{{v}}" >> ~/.bashrc',
  'command that the grammar does not understand': 'if sh <<< "{{v}}"; then (',
}

/** A value that is not read as code arrives unchanged; the command prints it with a delimiter. */
const ALLOWED: Readonly<Record<string, string>> = {
  'argument of a script': `sh -c 'printf "%s\\001" "$1"' sh "{{v}}"`,
  'environment of a script': `A="{{v}}" sh -c 'printf "%s\\001" "$A"'`,
  'script in one pair of quotes': `sh -c "printf '%s\\001' {{v}}"`,
  'script in single quotes': `sh -c 'printf "%s\\001" "{{v}}"'`,
  'script in a script': `sh -c "sh -c 'printf \\"%s\\\\001\\" {{v}}'"`,
  'script behind other programs': `env A=1 timeout 5 sh -c "printf '%s\\001' {{v}}"`,
  eval: `eval "printf '%s\\001' {{v}}"`,
  'argument of bash -s': `bash -s -- "{{v}}" <<'EOF'\nprintf '%s\\001' "$1"\nEOF`,
  'argument of python': `python3 -c 'import sys; sys.stdout.write(sys.argv[1] + "\\x01")' "{{v}}"`,
  'environment of python': `A="{{v}}" python3 -c 'import os; os.write(1, os.environ["A"].encode() + b"\\x01")'`,
  'variable of awk by the environment': `A="{{v}}" awk 'BEGIN { printf "%s\\001", ENVIRON["A"] }'`,
  'input of a program': `printf '%s' "{{v}}" | python3 -c 'import sys; sys.stdout.write(sys.stdin.read() + "\\x01")'`,
  'input of awk': `printf '%s\\001' "{{v}}" | awk 'BEGIN { RS = "\\001"; ORS = "\\001" } { print }'`,
  'input of xargs with arguments': `printf '%s\\0' "{{v}}" | xargs -0 sh -c 'printf "%s\\001" "$1"' sh`,
  'file that nothing runs': `printf '%s\\001' "{{v}}" > out.txt; cat out.txt`,
  'here-document of cat': `cat <<EOF | grep -c . >/dev/null\n{{v}}\nEOF\nprintf '%s\\001' "{{v}}"`,
  'here-document of cat with more behind it': `cat <<EOF >/dev/null; printf '%s\\001' "{{v}}"\n{{v}}\nEOF`,
  'variable that nothing reads as code': `x="{{v}}"; y=$x; printf '%s\\001' "$y"`,
  'search for a shell': `if command -v bash >/dev/null; then printf '%s\\001' "{{v}}"; fi`,
  'escapes in a pattern beside a shell': `x={{v}}; y=\${x#\\[} z=\${x%\\]}; sh -c true; printf '%s\\001' "$x"`,
  function: `f() { printf '%s\\001' "$1"; }; f "{{v}}"`,
  'columns of awk': `printf 'a|b\\n' | awk -F'|' '{print $1 "|" $2}' >/dev/null; printf '%s\\001' "{{v}}"`,
  'letters of sed': `printf '%s\\001' "{{v}}" | sed 's/\\(e\\) e /\\1 e /g'`,
  'variable of a search': `d="{{v}}"; find $d -name x >/dev/null; printf '%s\\001' "$d"`,
  'arithmetic beside a function': `f() { echo 1; }; n=$(f); : $((n + 1)); printf '%s\\001' "{{v}}"`,
  'arithmetic beside a file': `echo 1 > n; n=$(cat n); : $((n + 1)); printf '%s\\001' "{{v}}"`,
  'script from a file beside a value': `echo true > true.sh; eval "$(cat true.sh)"; printf '%s\\001' "{{v}}"`,
  'lines beside a shell': `printf 'a\\nb\\n' | while IFS= read -r x; do sh -c 'echo "$1"' sh "$x" >/dev/null; done; printf '%s\\001' "{{v}}"`,
  'loop beside a shell': `for i in "{{v}}"; do printf '%s\\001' "$i"; done; sh -c 'true'`,
}

const SHELLS = ['dash', 'bash', 'busybox sh']

describe('a value that an interpreter reads', () => {
  let folder = ''
  let count = 0
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'scanfarm-interpreters-'))
    for (const [name, script] of Object.entries(SUBSTITUTES))
      writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    // What runs before the program, a version manager and the packages of the site, takes longer than the program.
    const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' })
    writeFileSync(join(folder, 'python3'), `#!/bin/sh\nexec ${python.trim()} -S "$@"\n`, { mode: 0o755 })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const start = (shell: string, loop: string, commands: readonly string[]): string =>
    execFileSync('/bin/sh', ['-c', loop, 'sh', ...commands], {
      encoding: 'utf8',
      env: { PATH: `${folder}:${process.env['PATH'] ?? ''}`, SHELL_HERE: shell },
      cwd: at(),
      timeout: 120_000,
    })
  const at = (): string => join(folder, `at-${count}`)

  /** Runs the commands one after another in one folder, up to the first that leaves a canary. */
  const leavesCanary = (shell: string, commands: readonly string[]): boolean => {
    count += 1
    mkdirSync(at())
    const loop = `export HOME="$PWD"
      for c; do [ -e canary ] || $SHELL_HERE -c "$c" </dev/null 2>/dev/null; done; true`
    start(shell, loop, commands)
    return existsSync(join(at(), 'canary'))
  }

  /** Runs each command in its own folder. One process starts them all: Node takes longer to start one than it runs. */
  const runEach = (shell: string, commands: readonly string[]): { out: string; canary: boolean }[] => {
    count += 1
    const folders = commands.map((_, index) => join(at(), `${index + 1}`))
    for (const one of folders) mkdirSync(one, { recursive: true })
    const loop = `at="$PWD" i=0
      for c; do
        i=$((i + 1))
        cd "$at/$i" || exit 1
        HOME="$PWD" $SHELL_HERE -c "$c" </dev/null 2>/dev/null
        printf '\\002'
      done`
    const outputs = start(shell, loop, commands).split('\u0002')
    return folders.map((one, index) => ({
      out: outputs[index] ?? '',
      canary: existsSync(join(one, 'canary')),
    }))
  }

  test.each(Object.entries(SINKS))('is refused where it would become a command: %s', (_, command) => {
    const escaped = HOSTILE.flatMap((value) => {
      try {
        return [onlyEscaped(command, value)]
      } catch (error) {
        expect(error).toBeInstanceOf(UnsafeContextError)
        return []
      }
    })
    expect(SHELLS.some((shell) => leavesCanary(shell, escaped))).toBe(true)
    for (const value of HOSTILE) expect(() => render(command, value)).toThrow(UnsafeContextError)
    expect(() => render(command, 'a.example.com')).not.toThrow()
  })

  test.each(Object.entries(REFUSED))('is refused: %s', (_, command) => {
    for (const value of HOSTILE) expect(() => render(command, value)).toThrow(UnsafeContextError)
  })

  test('is refused with a message that has its name, the sink and an alternative', () => {
    expect(() => render('echo {{v}} | sudo bash -s', 'a b')).toThrow(
      /^\{\{v\}\} becomes code in the standard input of bash, .*sh -c '… "\$1"' sh \{\{x\}\}.*environment variable/,
    )
  })

  for (const shell of SHELLS) {
    test.each(Object.entries(ALLOWED))(`arrives unchanged in ${shell}: %s`, (place, command) => {
      const without = /python|awk|input/.test(place) ? /[\n\u0080-\uffff]/ : /(?!)/
      const values = [...HOSTILE.filter((value) => !without.test(value)), ...sampled(without)]
      const results = runEach(
        shell,
        values.map((value) => render(command, value)),
      )
      expect(results.map((result, index) => ({ value: values[index], ...result }))).toEqual(
        values.map((value) => ({ value, out: `${value}\u0001`, canary: false })),
      )
    })
  }
})

/** Texts made of what shells trip over. */
const sampled = (without: RegExp): string[] =>
  fc.sample(
    fc
      .array(
        fc.constantFrom(
          ...' \t\n\'"\\$`;&|<>(){}[]*?!#~=%^-', '$(touch canary)', '`touch canary`', "'; touch canary; '", '"; touch canary; "', '\\', 'a', 'EOF', 'é',
        ), // prettier-ignore
        { minLength: 1, maxLength: 7 },
      )
      .map((parts) => `x${parts.join('')}x`)
      .filter((value) => !without.test(value)),
    8,
  )
