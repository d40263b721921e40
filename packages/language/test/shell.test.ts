import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { renderCommand, UnsafeContextError } from '../src/shell/lexer.ts'
import type { Origin, Piece } from '../src/template/value.ts'

/** `X` marks the place of the value. */
const pieces = (command: string, text: string, origin: Origin = 'data'): Piece[] =>
  command
    .split('X')
    .flatMap((part, index) => [
      ...(index === 0 ? [] : [{ text, origin }]),
      ...(part === '' ? [] : [{ text: part, origin: 'author' as const }]),
    ])

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-shell-'))
  // A program that prints its arguments; the ones built into shells have rules of their own.
  writeFileSync(join(folder, 'words'), `#!/bin/sh\nprintf '%s\\001' "$@"\n`, { mode: 0o755 })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SHELLS = ['/bin/sh', '/bin/bash']

const sh = (command: string, shell = '/bin/sh'): string =>
  execFileSync(shell, ['-c', command], {
    encoding: 'utf8',
    cwd: folder,
    env: { PATH: `${folder}:/usr/bin:/bin`, HOME: '/home/somebody' },
  })

const END = '\u0002'

/** What each command prints, in a shell of its own; one process for all starts them much sooner than one for each. */
const shEach = (commands: readonly string[], shell?: string): string[] =>
  sh(commands.map((command) => `(\n${command}\n)\nprintf '\\002'\n`).join(''), shell)
    .split(END)
    .slice(0, -1)

/** Texts made of what shells trip over. */
const nasty = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...' \t\n\'"\\$`;&|<>(){}[]*?!#~=%^-+,.:/@') },
      { weight: 3, arbitrary: fc.constantFrom('a', 'b', '0', '1', 'EOF', 'X', 'é', '…', 'END') },
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          '$(echo INJECTED)', '`echo INJECTED`', '; echo INJECTED', '\nEOF\necho INJECTED\n', '${HOME}', '$HOME', "'; echo INJECTED; '",
          '"; echo INJECTED; "', '}', '))', '*)', ';;', 'esac', '\\\n', '\\', '&& echo INJECTED', '\nEND\n', 'case', 'done', '$((1+1))', '\tEOF', 'A=b',
        ), // prettier-ignore
      },
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''))

const AT_ONCE = 10
const manyNasty = fc.array(nasty, { minLength: AT_ONCE, maxLength: AT_ONCE })

/** A command that prints each of its words with a delimiter, the value's place, and what a correct shell prints. */
const PLACES: Readonly<Record<string, readonly [command: string, expected: (value: string) => string]>> = {
  'bare word': [`printf '%s\\001' X`, (value) => `${value}\u0001`],
  'bare word between others': [`printf '%s\\001' a X b`, (value) => `a\u0001${value}\u0001b\u0001`],
  'inside a word': [`printf '%s\\001' pre/X.txt`, (value) => `pre/${value}.txt\u0001`],
  'before a redirection': [`printf '%s\\001' X>&1`, (value) => `${value}\u0001`],
  'double quotes': [`printf '%s\\001' "aXb"`, (value) => `a${value}b\u0001`],
  'double quotes after a backslash': [`printf '%s\\001' "a\\Xb"`, (value) => `a\\${value}b\u0001`],
  'bare after a backslash': [`printf '%s\\001' \\X`, (value) => `${value}\u0001`],
  'after a dollar sign': [`printf '%s\\001' $X "$X"`, (value) => `$${value}\u0001$${value}\u0001`],
  'behind a variable': [
    `v=k; printf '%s\\001' $vX "$vX" "\${v:+$vX}"; cat <<END\n$vX\nEND`,
    (value) => `k${value}\u0001k${value}\u0001k${value}\u0001k${value}\n`,
  ],
  'single quotes': [`printf '%s\\001' 'aXb'`, (value) => `a${value}b\u0001`],
  assignment: [`v=X; printf '%s\\001' "$v"`, (value) => `${value}\u0001`],
  'command substitution': [`printf '%s\\001' "$(printf '%s.' X)"`, (value) => `${value}.\u0001`],
  'quotes in a substitution in quotes': [
    `printf '%s\\001' "$(printf '%s.' "X")"`,
    (value) => `${value}.\u0001`,
  ],
  'single quotes in a substitution': [`printf '%s\\001' "$(printf '%s.' 'X')"`, (value) => `${value}.\u0001`],
  'nested substitutions': [
    `printf '%s\\001' "$(printf '%s' "$(printf '%s.' X)")"`,
    (value) => `${value}.\u0001`,
  ],
  backquotes: ["v=`printf '%s.' X`; printf '%s\\001' \"$v\"", (value) => `${value}.\u0001`],
  'backquotes in quotes': ["printf '%s\\001' \"`printf '%s.' X`\"", (value) => `${value}.\u0001`],
  'quotes in backquotes in quotes': [
    'printf \'%s\\001\' "`printf \'%s.\' "X"`"',
    (value) => `${value}.\u0001`,
  ],
  'quotes in backquotes': ['v=`printf \'%s.\' "X"`; printf \'%s\\001\' "$v"', (value) => `${value}.\u0001`],
  'backquotes in backquotes': [
    "v=`printf '%s.' \"\\`printf '%s,' 'X'\\`\"`; printf '%s\\001' \"$v\"",
    (value) => `${value},.\u0001`,
  ],
  'default of a parameter': [`printf '%s\\001' \${NOT_SET:-X}`, (value) => `${value}\u0001`],
  'default of a parameter in quotes': [`printf '%s\\001' "\${NOT_SET:-X}"`, (value) => `${value}\u0001`],
  'pattern of a parameter': [
    `v=keep; printf '%s\\001' \${v#X}`,
    (value) => `${'keep'.startsWith(value) ? 'keep'.slice(value.length) : 'keep'}\u0001`,
  ],
  'here-document': [`cat <<EOF\nX\nEOF\nprintf '%s\\001' X`, (value) => `${value}\n${value}\u0001`],
  'inside a line of a here-document': [
    `cat <<EOF\nEX\nXOF\naXb\nEOF\necho done`,
    (value) => `E${value}\n${value}OF\na${value}b\ndone\n`,
  ],
  'indented here-document': [`cat <<-EOF\n\tX\n\tEOF\necho done`, (value) => `${value}\ndone\n`],
  'here-document in a substitution': [
    `printf '%s\\001' "$(cat <<END\nX.\nEND\n)"`,
    (value) => `${value}.\u0001`,
  ],
  'two here-documents': [
    `cat <<A; cat <<B\nX\nA\nX\nB\nprintf '%s\\001' X`,
    (value) => `${value}\n${value}\n${value}\u0001`,
  ],
  'here-document before a subshell': [
    `(cat <<EOF)\nX\nEOF\nprintf '%s\\001' X`,
    (value) => `${value}\n${value}\u0001`,
  ],
  'script of another shell in double quotes': [
    `sh -c "printf '%s\\001' X"; bash -ec "printf '%s\\001' X"`,
    (value) => `${value}\u0001${value}\u0001`,
  ],
  'script of another shell in single quotes': [
    `sh -c 'printf "%s\\001" "X" X; :'`,
    (value) => `${value}\u0001${value}\u0001`,
  ],
  'quotes in the script of another shell': [
    `v=1; sh -c "printf '%s|' \\"X\\" 'X' $v"`,
    (value) => `${value}|${value}|1|`,
  ],
  eval: [`eval "printf '%s\\001' X" && eval 'printf "%s\\001" X'`, (value) => `${value}\u0001${value}\u0001`],
  comment: [`# about X\nprintf '%s\\001' X`, (value) => `${value}\u0001`],
  'behind a case': [
    `printf '%s\\001' "$(case a in a) printf '%s.' X ;; (b) echo "b)" ;; esac)" X`,
    (value) => `${value}.\u0001${value}\u0001`,
  ],
  'subject and pattern of a case': [
    `case X in X) printf '%s\\001' X ;; *) echo no ;; esac`,
    (value) => `${value}\u0001`,
  ],
  'loop over words': [
    `for i in a X b; do printf '%s\\001' "$i"; done`,
    (value) => `a\u0001${value}\u0001b\u0001`,
  ],
  'subshell and function': [`f() { printf '%s\\001' "$1"; }; (f X)`, (value) => `${value}\u0001`],
  'behind a hash in a word': [`printf '%s\\001' a#X b`, (value) => `a#${value}\u0001b\u0001`],
}

/** Commands in which the value is the beginning of an operand, and the words that they print. */
const OPERANDS: Readonly<Record<string, readonly [command: string, words: readonly string[]]>> = {
  'bare word': ['words X', ['X']],
  'double quotes': ['words "X"', ['X']],
  'single quotes': ["words 'X.txt'", ['X.txt']],
  'after empty quotes': [`words ""'X'`, ['X']],
  'after an operand': ['words a X', ['a', 'X']],
  'after an option': ['words -a "X"', ['-a', 'X']],
  'after an empty variable': ['words "$NOT_SET"X', ['X']],
  'default of a variable': ['words "${NOT_SET:-X}"', ['X']],
  'default of a variable without quotes': ['words ${NOT_SET-X}', ['X']],
  'two values': ['words X X', ['X', 'X']],
  'behind a redirection': ['words 2>&1 X', ['X']],
  'behind an assignment': ['A=1 words X', ['X']],
  'behind another program': ['env -i "PATH=$PATH" words X', ['X']],
  'behind the end of options of another program': ['env A=1 timeout -k 1 5 words X', ['X']],
  'in a substitution': ['words "$(words X)"', ['X\u0001']],
  'in backquotes': ['v=`words X`; words "$v"', ['X\u0001']],
  'in a subshell': ['(words "X")', ['X']],
  'in a loop': ['for i in 1; do words X; done', ['X']],
  'in a branch of case': ['case a in a) words X ;; esac', ['X']],
  'in a script': ['sh -c "words X"', ['X']],
  'in a script in single quotes': [`bash -c 'words "X"'`, ['X']],
  'in a script of two parts': [`sh -c "words "'X'`, ['X']],
  'in a script in a script': [`sh -c "sh -c 'words X'"`, ['X']],
  'in eval': [`eval "words" X`, ['X']],
}

/** Commands in which the value cannot be an option. */
const NO_OPTIONS: Readonly<Record<string, readonly [command: string, words: readonly string[]]>> = {
  'behind --': ['words -- X', ['--', 'X']],
  'operand behind --': ['words -- a X', ['--', 'a', 'X']],
  'behind -- behind another program': ['env A=1 words -- "X"', ['--', 'X']],
  'attached to an option': ['words --option=X -o"X"', ['--option=X', '-oX']],
  'behind other characters': ['words ./X a"X"', ['./X', 'aX']],
  assignment: ['A=X words; A=X; words "$A"', ['', 'X']],
  'text of printf': [`printf '%s\\001' X`, ['X']],
  'argument of a script': [`sh -c 'words "$1"' sh X`, ['X']],
  'argument of a program in python': [`python3 -Sc 'import sys; print(sys.argv[1], end="\\1")' X`, ['X']],
  'argument of a function': ['f() { words "$1"; }; f X', ['X']],
  'loop over values': ['for i in X; do words "$i"; done', ['X']],
  condition: ['if [ "X" = "X" ]; then words yes; fi', ['yes']],
  'subject of case': ['case X in X) words yes ;; esac', ['yes']],
  'file of a redirection': ['words a > "./f-X" && words b', ['b']],
}

const startsLikeOption = (value: string): boolean => value.startsWith('-')

const dashed = fc
  .tuple(fc.constantFrom('-', '--', '-o', '--help', '-x='), nasty)
  .map(([dash, value]) => dash + value)
  .filter((value) => !/^-\d+(?:\.\d+)?$/.test(value))
const mixed = fc.array(fc.oneof(nasty, dashed), { minLength: AT_ONCE, maxLength: AT_ONCE })
const printedWords = (words: readonly string[], value: string): string =>
  words.map((word) => `${word.replaceAll('X', () => value)}\u0001`).join('')
/** Values for each place and each shell. */
const TRIES = 20

describe.each(SHELLS)('a value in %s', (shell) => {
  test.each(Object.entries(PLACES))('arrives unchanged and as one word: %s', (_, [command, expected]) => {
    fc.assert(
      fc.property(manyNasty, (values) => {
        const printed = shEach(
          values.map((value) => renderCommand(pieces(command, value))),
          shell,
        )
        expect(printed).toEqual(values.map(expected))
      }),
      { numRuns: TRIES / AT_ONCE },
    )
  })

  test.each(Object.entries(OPERANDS))('is one word or refused as an option: %s', (_, [command, words]) => {
    fc.assert(
      fc.property(mixed, (values) => {
        for (const value of values.filter(startsLikeOption))
          expect(() => renderCommand(pieces(command, value))).toThrow(/begins with - and would be an option/)
        const others = values.filter((value) => !startsLikeOption(value))
        const commands = others.map((value) => renderCommand(pieces(command, value)))
        expect(shEach(commands, shell)).toEqual(others.map((value) => printedWords(words, value)))
      }),
      { numRuns: TRIES / AT_ONCE },
    )
  })

  test.each(Object.entries(NO_OPTIONS))('is one word, also with a hyphen: %s', (place, [command, words]) => {
    fc.assert(
      fc.property(mixed, (values) => {
        // A name of a file has no slash and at most 255 bytes.
        const possible = place.startsWith('file') ? values.map((value) => value.replaceAll('/', '')) : values
        const commands = possible.map((value) => renderCommand(pieces(command, value)))
        expect(shEach(commands, shell)).toEqual(possible.map((value) => printedWords(words, value)))
      }),
      { numRuns: TRIES / AT_ONCE },
    )
  })
})

describe('a value in a shell command', () => {
  test('that begins with - is refused where the author wrote a word, with what to write instead', () => {
    expect(() =>
      renderCommand([
        { text: 'nmap -sV ', origin: 'author' },
        { text: '-oN/f', origin: 'data', name: 'host' },
      ]),
    ).toThrow(
      /^\{\{host\}\} begins with - and would be an option of nmap\. Write -- before it, .*--option=\{\{host\}\}.*\.\/.*type: args/,
    )
    const refused = [
      'ssh X true',
      'sudo X',
      'sudo -- words X',
      'tool &>f X',
      'xargs -- words X',
      'git log X',
      'su -c true X',
      'words -x -- X; words X',
    ]
    for (const command of refused) expect(() => renderCommand(pieces(command, '-x'))).toThrow(/begins with -/)
    const accepted = [
      'X',
      'a=(X b)',
      '[ -n "X" ]',
      '[[ X = a ]]',
      'echo X',
      'sudo -- X',
      'tool <<< X',
      'jq --arg a X .',
    ]
    for (const command of accepted) expect(() => renderCommand(pieces(command, '-x'))).not.toThrow()
    expect(() => renderCommand(pieces('echo X', '-n'))).toThrow(/option of echo/)
    expect(renderCommand(pieces('tool --retries X', '-1'))).toBe('tool --retries -1')
    expect(renderCommand(pieces('tool X', '-a -b', 'param'))).toBe('tool -a -b')
    expect(() => renderCommand(pieces('tool "X"', '-a', 'param'))).toThrow(/option of tool/)
  })

  test('arrives unchanged in a here-document with a quoted delimiter, or is refused', () => {
    fc.assert(
      fc.property(nasty, (value) => {
        let command: string
        try {
          command = renderCommand(pieces(`cat <<'EOF'\nX\nEOF\necho done`, value))
        } catch (error) {
          expect(error).toBeInstanceOf(UnsafeContextError)
          expect(value).toMatch(/^E(OF)?$|^E[^\n -~]|^EOF[^ -~]/m)
          return
        }
        expect(sh(command)).toBe(`${value}\ndone\n`)
      }),
      { numRuns: 100 },
    )
  })

  test('cannot end a here-document of a substitution in bash with a line that begins like its delimiter', () => {
    const value = 'ENDx) $(echo INJECTED)'
    const inner = (delimiter: string) => pieces(`printf %s "$(cat <<${delimiter}\nX\nEND\n)"`, value)
    for (const shell of SHELLS) expect(sh(renderCommand(inner('END')), shell)).toBe(value)
    expect(() => renderCommand(inner("'END'"))).toThrow('could end the here-document END')
  })

  test('is not read as a process substitution by bash inside "${…}", alone or beside the text of the author', () => {
    for (const shell of SHELLS)
      for (const value of ['>(', '<(echo INJECTED', '(a) <', "'<('"]) {
        expect(sh(renderCommand(pieces('printf %s "${NOT_SET:-X}"', value)), shell)).toBe(value)
        expect(sh(renderCommand(pieces('printf %s "${NOT_SET:-<X(}"', value)), shell)).toBe(`<${value}(`)
        expect(sh(renderCommand(pieces('cat <<END\n${NOT_SET:-X}\nEND', value)), shell)).toBe(`${value}\n`)
      }
  })

  test('is not read by bash as braces in backquotes in quotes', () => {
    const inside = (command: string, value: string) =>
      renderCommand(pieces(`printf '%s\\001' ${command}`, value))
    for (const shell of SHELLS)
      for (const value of [
        '"{a,b}',
        '{a,b}',
        "'{a,b}'",
        '{1..3}',
        '"${HOME},}',
        `"'{a,b}'`,
        '<(',
        '\\"{a,b}',
      ])
        for (const command of ['"`printf %s X`"', '"`printf %s "X"`"', '"`printf %s "$HOME"X`"'])
          expect(sh(inside(command, value), shell).replace('/home/somebody', '')).toBe(`${value}\u0001`)
    const nested = '"${NOT_SET:-`printf %s X`}"'
    expect(sh(inside(nested, '{a,b}'), '/bin/bash')).toBe('{a,b}\u0001')
    expect(() => inside(nested, '"{a,b}')).toThrow('a double quote cannot be in `…` inside ${…}')
  })

  test('cannot become a command, a keyword, an assignment or a file descriptor', () => {
    expect(renderCommand(pieces('X', 'if'))).toBe("'if'")
    expect(renderCommand(pieces('X=1 env', 'PATH'))).toBe("'PATH'=1 env")
    expect(renderCommand(pieces('X', 'A=b'))).toBe("'A=b'")
    expect(renderCommand(pieces('echo X>f', '2'))).toBe("echo '2'>f")
    expect(renderCommand(pieces('X -v', '/opt/bin/nmap'))).toBe('/opt/bin/nmap -v')
  })

  test('is not quoted if it has no special characters', () => {
    expect(renderCommand(pieces('nmap -p- X -o "X/a" > X.txt', 'a.example.com'))).toBe(
      'nmap -p- a.example.com -o "a.example.com/a" > a.example.com.txt',
    )
  })

  test('is refused in arithmetic and in names of variables', () => {
    const refused = [
      'echo $((X+1))',
      'echo ${X}',
      'echo ${aX}',
      'cat <<X\n',
      "echo $'aX'",
      '(( X > 1 ))',
      'echo "${v#X}"',
      'echo "${v:-"X"}"',
    ]
    for (const command of refused) {
      expect(() => renderCommand(pieces(command, 'a'))).toThrow(UnsafeContextError)
    }
    expect(sh(renderCommand(pieces('echo $((X+1))', '41')))).toBe('42\n')
    expect(() => renderCommand(pieces('echo X', 'a\0b'))).toThrow('NUL')
  })

  test.each([
    'cat <<A; echo $(echo b\nX)\nA\n',
    'echo $(cat <<A; echo $(echo b\nX)\nA\n)',
    'echo $(cat <<A; echo $(echo $(echo b\nX))\nA\n)',
  ])('is refused after a line break in a substitution whose line has a here-document: %j', (command) => {
    expect(() => renderCommand(pieces(command, 'a'))).toThrow('on the line of a here-document')
  })

  test('cannot be the whole script of another shell', () => {
    expect(renderCommand(pieces('sh -c X', 'id; id'))).toBe(`sh -c ''\\''id; id'\\'''`)
    expect(renderCommand(pieces('timeout 5 bash -c "nmap X"', 'a b'))).toBe(`timeout 5 bash -c "nmap 'a b'"`)
  })

  test("leaves the author's own text as it is", () => {
    const command = 'a `b \\`c\\` "$d"` "`e \\"f\\"`" $(g) ${h:-"i"} $((1+2)) <<X # j\nk\nX\n'
    expect(
      renderCommand([
        { text: command, origin: 'author' },
        { text: 'v', origin: 'data' },
        { text: ' l', origin: 'author' },
      ]),
    ).toBe(`${command}'v' l`)
  })
})

describe("a caller's param in a shell command", () => {
  test('is split only at blanks if it is not quoted', () => {
    fc.assert(
      fc.property(manyNasty, (values) => {
        const words = (value: string) => value.split(/[ \t\r\n]+/).filter((word) => word !== '')
        const command = (value: string) =>
          renderCommand(pieces(`printf '%s\\001' start X end`, value, 'param'))
        expect(shEach(values.map(command))).toEqual(
          values.map((value) => ['start', ...words(value), 'end'].map((word) => `${word}\u0001`).join('')),
        )
      }),
      { numRuns: 100 / AT_ONCE },
    )
  })

  test('is one text inside quotes', () => {
    fc.assert(
      fc.property(manyNasty, (values) => {
        const command = (value: string) => renderCommand(pieces(`printf '%s\\001' "X" 'X'`, value, 'param'))
        expect(shEach(values.map(command))).toEqual(values.map((value) => `${value}\u0001${value}\u0001`))
      }),
      { numRuns: 40 / AT_ONCE },
    )
  })

  test('adds no word if it is empty', () => {
    expect(renderCommand(pieces('tool X -v', '', 'param'))).toBe('tool  -v')
    expect(renderCommand(pieces('tool X -v', ''))).toBe("tool '' -v")
  })
})
