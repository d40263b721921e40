import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Harness } from './harness.ts'
import { atLeast, atMost, type Figure } from './figure.ts'
import { WIDTH, xargsRate } from './limits/spawn.ts'
import { medianMs } from './timing.ts'

const run = promisify(execFile)
const SCANFARM = join(import.meta.dirname, '../scanfarm')
const MOST_OUTPUT = 64 << 20
const TRIES = 3
/** The functions of a list are never evaluated without the engine. */
const NEEDS_THE_ENGINE = '"[[line]]".split("-").map((part) => part.toUpperCase()).join("-").length > 3'

/** (h) The cost of the workflow language, measured with the program alone, without a farm. */
export async function* language(harness: Harness): AsyncGenerator<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-language-'))
  try {
    yield* checking(harness, folder)
    yield* looping(harness, folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The start of the program, which is subtracted from the measurements. */
const startMs = (harness: Harness): Promise<number> =>
  harness.once('the start of the program', () => medianMs(TRIES, () => scanfarm('workflow', 'schema')))

const scanfarm = (...args: string[]) => run(SCANFARM, args, { maxBuffer: MOST_OUTPUT })

async function* checking(harness: Harness, folder: string): AsyncGenerator<Figure> {
  const files = harness.quick ? 200 : 1_000
  harness.note(`checking ${files} workflow files`)
  await mkdir(join(folder, 'many'))
  for (let n = 0; n < files; n += 1) await writeFile(join(folder, 'many', `m${n}.yaml`), moduleText(`m${n}`))
  const start = await startMs(harness)
  const ms = await medianMs(TRIES, () => scanfarm('workflow', 'lint', join(folder, 'many')))
  yield { part: 'h', name: `${files} workflow files read and checked`, value: ms - start, unit: 'ms' }
}

async function* looping(harness: Harness, folder: string): AsyncGenerator<Figure> {
  const items = harness.quick ? 1_000 : 10_000
  await writeFile(
    join(folder, 'lines.txt'),
    `${Array.from({ length: items }, (_, n) => `item-${n}`).join('\n')}\n`,
  )
  const timeOf = async (name: string, step: string): Promise<number> => {
    const file = join(folder, `${name}.yaml`)
    await writeFile(file, foreachText(name, join(folder, 'lines.txt'), step))
    return await medianMs(1, () => scanfarm('exec', '-m', file, '-t', 'bench.test', '--json'))
  }
  const xargs = await xargsRate(harness)
  harness.note(`foreach over ${items} lines: a command, an expression, a skipped step`)
  const idle = await timeOf('idle', 'type: function, pre_condition: "false", function: "1"')
  const commands = await timeOf('commands', "type: bash, command: 'true'")
  const expressions = await timeOf('expressions', `type: function, function: '${NEEDS_THE_ENGINE}'`)
  yield {
    part: 'h',
    name: `foreach of ${items} commands, ${WIDTH} threads`,
    value: (items / (commands - (await startMs(harness)))) * 1_000,
    unit: '/s',
    limit: { what: 'xargs', value: xargs },
    target: atLeast(0.6, 'ratio'),
  }
  yield {
    part: 'h',
    name: 'an expression that needs the engine, compared with a skipped step',
    value: (expressions - idle) / items,
    unit: 'ms',
    target: atMost(0.15),
  }
}

const moduleText = (name: string): string => `kind: module
name: ${name}
description: One of many.
params:
  - name: ports
    default: 1-1000
steps:
  - name: prepare
    type: bash
    command: mkdir -p {{Output}}/${name}
  - name: scan
    type: bash
    pre_condition: is_empty("{{ports}}") == false
    command: echo {{Target}} {{ports}} > {{Output}}/${name}/scan.txt
    on_error:
      - action: continue
  - name: count
    type: function
    function: file_length("{{Output}}/${name}/scan.txt")
reports:
  - name: ${name}
    path: '{{Output}}/${name}/scan.txt'
    type: text
`

/** The first step works, so that a run of skipped items does not end with an error as nothing_done. */
const foreachText = (name: string, lines: string, step: string): string => `kind: module
name: ${name}
steps:
  - name: work
    type: bash
    command: 'true'
  - name: each
    type: foreach
    input: ${lines}
    variable: line
    threads: ${WIDTH}
    step: { name: one, ${step} }
`
