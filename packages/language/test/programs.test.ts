// long
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { renderCommand, ShellLexer, UnsafeContextError } from '../src/shell/lexer.ts'
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

/** The command as it would be if values that become code were only reported. */
const onlyEscaped = (command: string, text: string): string => {
  const lexer = new ShellLexer({ onCode: () => undefined })
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
  ssh: 'shift; if [ $# = 0 ]; then exec sh; else exec sh -c "$*"; fi',
  sudo: 'while [ "${1#-}" != "$1" ]; do shift 2; done; exec "$@"',
}

/** A value becomes code in each of them when it is only escaped for its place. */
const SINKS: Readonly<Record<string, string>> = {
  'here-document of a shell': 'sh <<EOF\necho {{v}}\nEOF',
  'quoted here-document of a shell': "sh <<'EOF'\necho {{v}}\nEOF",
  'here-document with more behind it': 'sh <<EOF && true\n{{v}}\nEOF',
  'here-document that is piped': 'cat <<EOF | sh\n{{v}}\nEOF',
  'here-document of python': 'cat <<EOF | python3\n{{v}}\nEOF',
  'here-string': 'bash -s <<<"{{v}}"',
  'pipe to a shell': 'echo "{{v}}" | sh',
  'pipe through another program': 'printf "%s\\n" "{{v}}" | sort | bash -x',
  'pipe to a shell on another host': 'printf "%s\\n" "{{v}}" | ssh host sh',
  'pipe to the shell of another host': 'echo "{{v}}" | ssh host',
  'pipe to a shell behind other programs': 'echo "{{v}}" | sudo -u x env A=1 timeout 5 bash -s',
  'pipe to xargs with a replacement': 'echo "{{v}}" | xargs -I@ sh -c "@"',
  'pipe to xargs and a shell without script': 'printf "%s\\0" "{{v}}" | xargs -0 sh -c',
  'pipe to perl': 'echo "{{v}}" | perl',
  'pipe to node': "echo '{{v}}' | node -",
  'process substitution that is sourced': '. <(echo "{{v}}")',
  'script in a substitution': 'sh -c "$(echo "{{v}}")"',
  'program of python': 'python3 -c "{{v}}"',
  'program of perl': 'perl -e "{{v}}"',
  'program of node': 'node -e "{{v}}"',
  'program of awk': 'awk "{{v}}" /dev/null',
  'program of sed': 'echo a | sed "s/a/{{v}}/"',
  'program of sed that is attached': `echo a | sed -e's/a/{{v}}/'`,
  'program of perl that is attached': `perl -e'print "{{v}}"'`,
  'pipe from a loop': 'for i in 1 2; do echo "{{v}}"; done | sh',
  'pipe from a group': '{ echo "{{v}}"; } | bash',
  'script in an expansion': 'sh -c "echo ${NOT_SET:-{{v}}}"',
}

/** Also refused; what reads the place is not on every machine. */
const REFUSED: Readonly<Record<string, string>> = {
  'pipe to php': 'echo "{{v}}" | php',
  'program of ruby': 'ruby -e "puts {{v}}"',
  'program of php': 'php -r "echo {{v}};"',
  'program of jq': 'jq ".{{v}}" f',
  'program that is attached': 'node --eval="{{v}}"',
  'program behind other options': 'perl -lane "print {{v}}"',
  'program of sed that xargs starts': 'ls | xargs sed -i "s/a/{{v}}/"',
  'program in a container': 'docker exec c python3 -c "print({{v}})"',
  'file that is sourced': 'source "{{v}}"',
  'pipe to xargs and a language': 'echo "{{v}}" | xargs -I% python3 -c "print(%)"',
}

/** What the author's own program does with a value is its business; the isolation of steps bounds it. */
const OWN: Readonly<Record<string, string>> = {
  'script that evaluates its argument': `sh -c 'eval "$1"' sh "{{v}}"`,
  'command in a variable': 'x="{{v}}"; $x',
  trap: 'trap "echo {{v}}" EXIT',
  'variable that a program reads': 'PAGER="{{v}}" git log',
  'setting of git': 'git config core.pager "{{v}}"',
  'script that is written': 'echo "{{v}}" > job; sh job',
  'program with a parameter': `awk -v x="{{v}}" 'BEGIN { print x }'`,
  'statement of a database': 'psql -c "select \'{{v}}\'"',
  'words that look like an interpreter': 'grep sh "{{v}}" | grep -v bash',
}

/** A value that is not read as code arrives unchanged; the command prints it with a delimiter. */
const ALLOWED: Readonly<Record<string, string>> = {
  'argument of a script': `sh -c 'printf "%s\\001" "$1"' sh "{{v}}"`,
  'environment of a script': `A="{{v}}" sh -c 'printf "%s\\001" "$A"'`,
  'script in one pair of quotes': `sh -c "printf '%s\\001' {{v}}"`,
  'script in single quotes': `sh -c 'printf "%s\\001" "{{v}}"'`,
  'script in a script': `sh -c "sh -c 'printf \\"%s\\\\001\\" {{v}}'"`,
  'script behind other programs': `env A=1 timeout 5 sh -c "printf '%s\\001' {{v}}"`,
  'script of two parts': `sh -c "printf '%s\\001' '"{{v}}"'"`,
  'script behind more options': `bash -euo pipefail -c "printf '%s\\001' {{v}}"`,
  'script of find': `find . -maxdepth 0 -exec sh -c "printf '%s\\001' {{v}}" \\;`,
  'script of xargs': `echo a | xargs sh -c "printf '%s\\001' {{v}}"`,
  'script of ssh': `ssh host "printf '%s\\001' {{v}}"`,
  'script of ssh in parts': `ssh host printf "'%s\\001'" {{v}}`,
  eval: `eval "printf '%s\\001' {{v}}"`,
  'eval of parts': `eval printf "'%s\\001'" {{v}}`,
  'input of xargs as an argument': `printf '%s\\0' "{{v}}" | xargs -0 -I@ sh -c 'printf "%s\\001" "$1"' sh @`,
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

/** Every shell of this machine. */
const SHELLS = ['dash', 'bash', 'busybox sh'].filter(
  (shell) => spawnSync(shell.split(' ')[0] ?? '', ['--help']).error === undefined,
)

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

  test.each(Object.entries(OWN))("is one word of the author's program: %s", (_, command) => {
    for (const value of HOSTILE.filter((one) => !one.startsWith('-')))
      expect(() => render(command, value)).not.toThrow()
  })

  test('is also refused if it has the delimiter of a program of sed or perl', () => {
    for (const command of ['sed "s/a/{{v}}/"', 'sed -e "/{{v}}/d"', `perl -pe 's/{{v}}/b/'`])
      expect(() => render(command, 'a/b')).toThrow(/becomes code in the program of (?:sed|perl)/)
    expect(render('sed "s|a|{{v}}|" f', '/a/b')).toBe('sed "s|a|/a/b|" f')
  })

  test('is refused behind more words than are read, and in too many nested scripts', () => {
    const many = `tool ${'a '.repeat(130)}`
    expect(() => render(`${many}{{v}}`, 'a b')).toThrow(/becomes code in a command of more than 128 words/)
    expect(render(`echo ${'a '.repeat(130)}{{v}}`, 'a b')).toMatch(/'a b'$/)
    expect(() => render(`${'eval '.repeat(9)}{{v}}`, 'a')).toThrow(/at most 8 scripts in scripts/)
  })

  test('is refused with a message that has its name, the sink and an alternative', () => {
    expect(() => render('echo {{v}} | sudo bash -s', 'a b')).toThrow(
      /^\{\{v\}\} becomes code in the input of bash, .*sh -c '… "\$1"' sh \{\{x\}\}.*environment variable/,
    )
  })

  for (const shell of SHELLS) {
    // A place of python needs one shell: what differs between shells, other places show sooner.
    const places = Object.entries(ALLOWED).filter(
      ([, command]) => shell === SHELLS[0] || !command.includes('python3'),
    )
    test.each(places)(`arrives unchanged in ${shell}: %s`, (place, command) => {
      const without = /python|awk|input/.test(place) ? /[\n\u0080-\uffff]/ : /(?!)/
      const values = [...HOSTILE, 'x{}x', "'{}", '}{']
        .filter((value) => !without.test(value))
        .concat(sampled(without))
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
