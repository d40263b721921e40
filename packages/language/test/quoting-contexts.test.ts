import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { renderCommand, UnsafeContextError } from '../src/shell/lexer.ts'
import { shellWords } from '../src/shell/words.ts'
import type { Origin, Piece } from '../src/template/value.ts'

/** `X` marks the place of the value. */
const pieces = (command: string, text: string, origin: Origin): Piece[] =>
  command
    .split('X')
    .flatMap((part, index) => [
      ...(index === 0 ? [] : [{ text, origin }]),
      ...(part === '' ? [] : [{ text: part, origin: 'author' as const }]),
    ])
const render = (command: string, text: string, origin: Origin): string =>
  renderCommand(pieces(command, text, origin))

/** Every shell of this machine that a command may meet, with the words that start it. */
const SHELLS = [['dash'], ['bash'], ['busybox', 'sh']].filter(
  ([program = '']) => spawnSync(program, ['--help']).error === undefined,
)

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-contexts-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = ([program = '', ...options]: readonly string[], command: string): string =>
  execFileSync(program, [...options, '-c', command], {
    encoding: 'utf8',
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', HOME: folder },
    stdio: ['ignore', 'pipe', 'ignore'],
  })

/** For each command whether it made the canary. One process starts them all: Node takes long to start one. */
const makeCanaries = (shell: readonly string[], commands: readonly string[]): string[] => {
  const loop = `for c; do
    timeout 10 ${shell.join(' ')} -c "$c" </dev/null >/dev/null 2>&1
    if [ -e canary ]; then rm canary; echo made; else echo none; fi
  done`
  const out = execFileSync('/bin/sh', ['-c', loop, 'sh', ...commands], {
    encoding: 'utf8',
    cwd: folder,
    env: { PATH: '/usr/bin:/bin' },
  })
  return out.trim().split('\n')
}

/** Places where several words are arguments, or turns of a loop. */
const ARGUMENTS = [
  'tool X',
  'tool -a X b',
  'tool a X>out',
  'A=1 B="$x" tool X',
  '/opt/bin/tool X',
  '$HOME/go/bin/tool X',
  '"tool" X',
  't"oo"l X',
  '>log tool X',
  'tool 2>&1 X',
  'tool 2>/dev/null X',
  'tool >out X',
  'tool >| out X',
  'tool <<E X\nE\n',
  'tool <in X',
  'a; tool X',
  'if true; then tool X; fi',
  '! tool X',
  '{ tool X; }',
  '( tool X )',
  'a | tool X | b',
  'v=$(tool X)',
  'v="$(tool X)"',
  'v=`tool X`',
  'case a in a) tool X ;; esac',
  'tool <(other X) X',
  'for i in X; do :; done',
  'timeout 5 tool X',
  'timeout -k 5 --signal=KILL 1h tool X',
  'timeout "$t" tool X',
  'sudo -n -u root tool X',
  'env -i A=b tool X',
  'nice -n 10 nohup stdbuf -oL tool X',
  'python3 tool.py X',
  'python3 -m tool X',
  'java -jar tool.jar X',
  "printf '%s' X",
]

/** Places where they would be a command, code, another variable or another file. */
const OTHERS = [
  'X',
  'X a',
  'a; X',
  '! X',
  'wait=X',
  'wait=X tool',
  'a=1 wait=X tool',
  'a="1"X',
  'a=1 X',
  'export wait=X',
  'local wait=X',
  'tool >X',
  'tool > X',
  'tool 2>X',
  'tool 2>> X',
  'tool >| X',
  'tool < X',
  'tool <X',
  'tool <<< X',
  '> X tool',
  '>log X',
  'tool &>X',
  'case X in a) ;; esac',
  'case a in X) ;; esac',
  '# X\n',
  'tool "X"',
  "tool 'X'",
  'tool a"b"X',
  'sh -c "tool X"',
  'sh -c X',
  'sh X',
  'sh script.sh X',
  'bash -x X',
  'eval X',
  'eval tool X',
  '. X',
  'env X',
  'env >&2 X',
  'env >log X',
  'env 2>/dev/null X',
  'env <(a) X',
  '>log env X',
  '2>log env X',
  'A="$b" env X',
  'env -u X tool',
  'env -S X',
  'sudo X',
  'sudo -u root X',
  'sudo -u "$who" X',
  'sudo --user root X',
  'timeout X',
  'timeout 5 X',
  'timeout -s KILL 5 X',
  'nice -n 10 X',
  'nice -10 X',
  'nohup X',
  'time X',
  'exec X',
  'command X',
  'builtin X',
  'nohup timeout 5 X',
  'xargs X',
  'xargs tool X',
  'find . X',
  'ssh host X',
  'watch tool X',
  'parallel tool X',
  'flock lock X',
  'chroot / X',
  'trap X EXIT',
  'alias X',
  'test X',
  '[ X ]',
  '[[ X ]]',
  'read X',
  'export X',
  '$tool X',
  '"$x"tool X',
  '\\env X',
  '/usr/bin/env X',
  '$DIR/env X',
  'busybox X',
  'f() { "$@"; }; f X',
  'f() { g X; }; g() { "$@"; }; f',
  'v=`f X`; f() { "$@"; }',
  'function f { "$@"; }\nf X',
  'a=(X)',
  'docker run X',
]

/** Programs with options that run code: an author may give them arguments, a param without a type is one word. */
const WITH_OPTIONS = ['tar X', 'git X', 'printf X']
/** Programs whose first argument is code, which no value can be. */
const CODE = ['python3 X', 'python3 -c X', 'perl X', 'sed X', 'awk X']

describe('the words of a param without a type', () => {
  test.each([...ARGUMENTS])('are several arguments in: %s', (command) => {
    expect(render(command, '-a b', 'param')).toBe(command.replaceAll('X', '-a b'))
    expect(render(command, 'a b', 'caller')).toBe(render(command, 'a b', 'data'))
  })

  test.each([...OTHERS, ...WITH_OPTIONS, ...CODE])('are one word in: %s', (command) => {
    const attempt = (origin: Origin) => {
      try {
        return render(command, '3 touch FILE', origin)
      } catch (error) {
        if (error instanceof UnsafeContextError) return 'refused'
        throw error
      }
    }
    expect(attempt('param')).toBe(attempt('data'))
  })

  test('are no word if the param is empty and in the position of a command or an argument', () => {
    expect(render('X tool X -v', '', 'param')).toBe(' tool  -v')
    expect(render('tool >X', '', 'param')).toBe("tool >''")
    expect(render('env X tool', '', 'param')).toBe("env '' tool")
  })
})

describe('a param of the type args', () => {
  test.each([...ARGUMENTS, ...WITH_OPTIONS])('is split by the quoting of a shell in: %s', (command) => {
    expect(render(command, `-a "b c" '' d\\ *`, 'args')).toBe(command.replaceAll('X', `-a 'b c' '' 'd *'`))
  })

  test.each([...OTHERS, ...CODE])('is refused in: %s', (command) => {
    expect(() => render(command, '-a "b c"', 'args')).toThrow(UnsafeContextError)
  })

  test('with a quote that is not closed is refused', () => {
    expect(shellWords('"a')).toBeUndefined()
    expect(shellWords('a\\')).toBeUndefined()
    expect(shellWords('a\\\nb c\nd')).toEqual(['ab', 'c', 'd'])
    expect(() => render('tool X', "it's", 'args')).toThrow('unbalanced quote')
  })
})

describe('shellWords', () => {
  /** No expansions: those of `shellWords` are the words that a shell has before it expands anything. */
  const text = fc
    .array(fc.constantFrom(...' \t"\'\\', 'a', 'é', 'B', '-', '=', '\\"', "\\'", '\\ ', '""', "''", '" "'), {
      maxLength: 12,
    })
    .map((parts) => parts.join(''))

  test.each(SHELLS)('splits a text as %s does', (...shell) => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 20, maxLength: 20 }), (texts) => {
        const whole = texts.filter((one) => shellWords(one) !== undefined)
        const printed = run(shell, whole.map((one) => `set -- ${one}\nprintf '%s\\001' "$@" "|"\n`).join(''))
        expect(printed).toBe(
          whole
            .map((one) => [...(shellWords(one) ?? []), '|'].map((word) => `${word}\u0001`).join(''))
            .join(''),
        )
      }),
      { numRuns: 5 },
    )
  })
})

describe('a hostile value in a real shell', () => {
  const nasty = fc
    .array(
      fc.constantFrom(
        ...' \t"\'\\$`;&|<>(){}[]*?!#~=', 'a', '-', 'touch', 'canary', ' touch canary', ' touch canary ', '$(touch canary)', '\ntouch canary\n', 'A=b', '$HOME', '~',
      ), // prettier-ignore
      { minLength: 1, maxLength: 8 },
    )
    .map((parts) => parts.join(''))
    .filter((value) => value.trim() !== '')
  const printed = (words: readonly string[]) => words.map((word) => `${word}\u0001`).join('')
  const split = (value: string) => value.split(/[ \t\r\n]+/).filter((word) => word !== '')
  const ONE: Readonly<Record<string, string>> = {
    assignment: `wait=X; printf '%s\\001' "$wait"`,
    'assignment before a command': `wait=X sh -c 'printf "%s\\001" "$wait"'`,
    'exported assignment': `export wait=X; printf '%s\\001' "$wait"`,
    'double quotes': `printf '%s\\001' "X"`,
    'argument of a wrapper': `env printf '%s\\001' "X"`,
    'subject of a case': `case X in *) printf '%s\\001' "X" ;; esac`,
    function: `show() { printf '%s\\001' "$@"; }; show X`,
  }

  for (const shell of SHELLS) {
    test.each(Object.entries(ONE))(`is one word for ${shell.join(' ')}: %s`, (_, command) => {
      const values = fc.array(nasty, { minLength: 10, maxLength: 10 })
      fc.assert(
        fc.property(values, fc.constantFrom<Origin>('param', 'caller', 'data'), (list, origin) => {
          const all = list.map((value) => `(\n${render(command, value, origin)}\n)\n`).join('')
          expect(run(shell, all)).toBe(printed(list))
          expect(existsSync(join(folder, 'canary'))).toBe(false)
        }),
        { numRuns: 4 },
      )
    })

    test(`is only split into arguments by ${shell.join(' ')}`, () => {
      fc.assert(
        fc.property(fc.array(nasty, { minLength: 10, maxLength: 10 }), (list) => {
          const command = `printf '%s\\001' . X; for i in X; do printf '%s\\001' "$i"; done; v=\`printf '%s\\001' X\`; printf %s "$v"`
          const words = (value: string) => [
            '.',
            ...split(value),
            ...split(value),
            ...(split(value).length === 0 ? [''] : split(value)),
          ]
          const all = list.map((value) => `(\n${render(command, value, 'param')}\n)\n`).join('')
          expect(run(shell, all)).toBe(list.map((value) => printed(words(value))).join(''))
          const whole = list.filter((value) => shellWords(value) !== undefined)
          const args = whole.map((value) => `${render(`printf '%s\\001' . X`, value, 'args')}\n`).join('')
          expect(run(shell, args)).toBe(
            whole.map((value) => printed(['.', ...(shellWords(value) ?? [])])).join(''),
          )
          expect(existsSync(join(folder, 'canary'))).toBe(false)
        }),
        { numRuns: 4 },
      )
    })

    test(`executes nothing in any position for ${shell.join(' ')}`, () => {
      // Those left out wait for a terminal or a host, or take a text apart themselves.
      const runnable = [...ARGUMENTS, ...OTHERS, ...WITH_OPTIONS, ...CODE].filter(
        (command) =>
          !/ssh|sudo|docker|watch|<<<|<\(|&>|\[\[|a=\(|function|>\||read|local|chroot|xargs|env -S/.test(
            command,
          ),
      )
      const rendered = new Set<string>()
      for (const command of runnable) {
        for (const attack of ['3 touch canary', 'touch canary', 'A=b touch canary']) {
          for (const origin of ['param', 'args'] as const) {
            if (origin === 'args' && OTHERS.includes(command)) continue
            try {
              rendered.add(render(command, attack, origin))
            } catch (error) {
              expect(error).toBeInstanceOf(UnsafeContextError)
            }
          }
        }
      }
      const commands = [...rendered]
      const made = makeCanaries(shell, commands)
      expect(commands.filter((_, index) => made[index] !== 'none')).toEqual([])
    })
  }
})
