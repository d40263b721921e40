import { execFile } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { runProgram } from '../src/index.ts'
import { captureTerminal } from './captured-terminal.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-completion-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const printed = async (shell: string): Promise<string> => {
  const terminal = captureTerminal({})
  expect(await runProgram(['completion', shell], terminal)).toBe(0)
  return terminal.stdout()
}

const output = async (program: string, args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, args, { timeout: 60_000 })).stdout

/** The words that a shell offers at the end of a line. */
type Offered = (script: string, line: string) => Promise<readonly string[]>

const bash: Offered = async (script, line) => {
  const words = line.split(' ')
  const call = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _scanfarm`
  return (await output('bash', ['-c', `${script}\n${call}; echo "\${COMPREPLY[@]}"`])).trim().split(' ')
}

const fish: Offered = async (script, line) => {
  const text = await output('fish', ['--no-config', '-c', `${script}\ncomplete -C '${line}'`])
  return text
    .trim()
    .split('\n')
    .map((offer) => offer.split('\t')[0] ?? '')
}

/** An interactive zsh in a pseudo terminal gets the line, a Tab and Enter, and calls a function instead of the program. */
const zsh = async (setUp: string, line: string): Promise<readonly string[]> => {
  const begin = `scanfarm() { print -r -- "GOT<$*>" }; autoload -Uz compinit; ${setUp}; print REA''DY`
  const driver = `zmodload zsh/zpty; zpty z zsh -f -i; zpty -w z ${JSON.stringify(begin).replaceAll('$', '\\$')}
    zpty -r z text '*READY*'; zpty -w z '${line}'$'\\t'; zpty -r z text '*GOT<*>*'; print -r -- $text; zpty -d z`
  const got = /GOT<([^>]*)>/.exec(await output('zsh', ['-f', '-c', driver]))?.[1] ?? ''
  return got.trim().split(' ').slice(-1)
}

const sourced: Offered = async (script, line) => {
  const file = join(folder, 'sourced.zsh')
  writeFileSync(file, script)
  return await zsh(`compinit -u -D; source ${file}`, line)
}

const ofFpath: Offered = async (script, line) => {
  writeFileSync(join(folder, '_scanfarm'), script)
  return await zsh(`fpath=(${folder} $fpath); compinit -u -D`, line)
}

const isInstalled = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((path) => {
    try {
      accessSync(join(path, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

const SHELLS: readonly (readonly [string, string, Offered])[] = [
  ['bash', 'bash', bash],
  ['fish', 'fish', fish],
  ['zsh', 'zsh', sourced],
  ['zsh with a file of fpath', 'zsh', ofFpath],
]

// Machines that test have bash; the others if they are installed.
describe.each(SHELLS.filter(([, shell]) => shell === 'bash' || isInstalled(shell)))(
  '%s',
  (_, shell, offered) => {
    test.each([
      ['sched', 'schedules'],
      ['schedules tr', 'trigger'],
      ['findings list --sev', '--severity'],
      ['runs --limit 5 can', 'cancel'],
      ['jobs retr', 'retry'],
    ])('scanfarm %s is completed to %s', async (line, word) => {
      expect(await offered(await printed(shell), `scanfarm ${line}`)).toEqual([word])
    })
  },
)
