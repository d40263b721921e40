import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Harness } from './harness.ts'
import { atMost, type Figure } from './figure.ts'
import { percentile, timeMs } from './timing.ts'

const run = promisify(execFile)
const CHECKOUT = join(import.meta.dirname, '../..')
const SCANFARM = join(CHECKOUT, 'scripts/scanfarm')
const MOST_OUTPUT = 64 << 20
const STEPS = 200

/** A program and its arguments. */
type Line = readonly [string, ...string[]]

/** (l) The program alone: its start, and work of a single target compared with another engine if `BENCH_PEER` names its program. */
export async function* program(harness: Harness): AsyncGenerator<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-program-'))
  try {
    yield* starts(harness, folder)
    yield* peer(harness, folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Its standard input is empty: some programs read targets from it. */
function runLine(cwd: string, file: string, args: readonly string[]): Promise<unknown> {
  const running = run(file, args, { cwd, maxBuffer: MOST_OUTPUT })
  running.child.stdin?.end()
  return running
}

/** The median of each line. They take turns, so that other load slows all of them. */
async function timesOf(folder: string, tries: number, lines: readonly Line[]): Promise<number[]> {
  const times = lines.map((): number[] => [])
  for (let attempt = -1; attempt < tries; attempt++)
    for (const [index, [file, ...args]] of lines.entries()) {
      const ms = await timeMs(() => runLine(folder, file, args))
      if (attempt >= 0) times[index]?.push(ms)
    }
  return times.map((all) => percentile(all, 50))
}

async function* starts(harness: Harness, folder: string): AsyncGenerator<Figure> {
  harness.note('starts of the program')
  const echo = join(folder, 'echo.yaml')
  await writeFile(echo, moduleText('echo', step('hello', 'echo hello')))
  for (const [place, cwd] of Object.entries({ 'the checkout': CHECKOUT, 'another folder': folder })) {
    const [bare = 0, version = 0, exec = 0] = await timesOf(cwd, harness.quick ? 10 : 40, [
      [process.execPath, '-e', '0'],
      [SCANFARM, '--version'],
      [...execLine(echo), '-W', join(folder, 'output')],
    ])
    const limit = { what: 'bare node', value: bare }
    const figure = { part: 'l', unit: 'ms', limit } as const
    yield { ...figure, name: `scanfarm --version in ${place}`, value: version, target: atMost(2, 'ratio') }
    yield {
      ...figure,
      name: `scanfarm exec of one echo in ${place}`,
      value: exec,
      target: atMost(3.75, 'ratio'),
    }
  }
}

const execLine = (file: string): Line => [SCANFARM, 'exec', '-m', file, '-t', 'bench.test']

async function* peer(harness: Harness, folder: string): AsyncGenerator<Figure> {
  const items = harness.quick ? 1_000 : 10_000
  const lines = join(folder, 'lines.txt')
  await writeFile(lines, `${Array.from({ length: items }, (_, n) => `item-${n}`).join('\n')}\n`)
  const append = (name: string): string => `echo done >> ${join(folder, name)}.done`
  const steps = Array.from({ length: STEPS }, (_, n) => step(`step-${n}`, append('steps'))).join('')
  const loop = `  - name: each
    type: foreach
    input: ${lines}
    variable: line
    threads: 1
    step: { name: one, type: bash, command: '${append('loop')}' }
`
  yield* compare(harness, folder, { name: 'steps', text: steps, what: `${STEPS} bash steps`, count: STEPS })
  yield* compare(harness, folder, {
    name: 'loop',
    text: loop,
    what: `foreach of ${items} commands, 1 thread`,
    count: items,
  })
}

/** Both programs read the same file. Each command adds a line, so that one that was left out is noticed. */
async function* compare(
  harness: Harness,
  folder: string,
  { name, text, what, count }: { name: string; text: string; what: string; count: number },
): AsyncGenerator<Figure> {
  harness.note(what)
  const modules = join(folder, 'workflows/modules')
  await mkdir(modules, { recursive: true })
  const file = join(modules, `${name}.yaml`)
  await writeFile(file, moduleText(name, text))
  const other = process.env.BENCH_PEER
  const tries = name === 'loop' || harness.quick ? 1 : 5
  const lines = [execLine(file), ...(other === undefined ? [] : [peerLine(other, folder, name)])]
  const [ours = 0, theirs] = await timesOf(folder, tries, lines)
  const done = (await readFile(join(folder, `${name}.done`), 'utf8')).split('\n').length - 1
  if (done !== count * lines.length * (tries + 1))
    throw new Error(`${what}: ${done} commands were executed, expected ${count * lines.length * (tries + 1)}`)
  yield {
    part: 'l',
    name: what,
    value: ours,
    unit: 'ms',
    ...(theirs === undefined
      ? {}
      : { limit: { what: 'Osmedeus', value: theirs }, target: atMost(1, 'ratio') }),
  }
}

const PEER_OPTIONS = ['--silent', '--skip-auto-setup', '--disable-notification']

const peerLine = (binary: string, folder: string, name: string): Line => {
  const folders = [
    '-b',
    join(folder, 'peer'),
    '-F',
    join(folder, 'workflows'),
    '-W',
    join(folder, 'peer-output'),
  ]
  return [binary, 'run', ...folders, '-m', name, '-t', 'bench.test', ...PEER_OPTIONS]
}

const moduleText = (name: string, steps: string): string => `kind: module\nname: ${name}\nsteps:\n${steps}`

const step = (name: string, command: string): string =>
  `  - name: ${name}\n    type: bash\n    command: ${command}\n`
