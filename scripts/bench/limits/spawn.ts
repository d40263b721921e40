import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Harness } from '../harness.ts'
import { medianMs } from '../timing.ts'

const run = promisify(execFile)
const WIDTH = 8
const TRIES = 3
/** The shell and command of a step that does nothing. */
const SHELL = '/bin/sh'
const COMMAND = 'true'

const count = (harness: Harness): number => (harness.quick ? 1_000 : 3_000)

/** Commands per second with `xargs -P`, which forks from a small C program and records nothing. */
export const xargsRate = (harness: Harness): Promise<number> =>
  harness.once(`limit: xargs -P ${WIDTH} ${SHELL} -c ${COMMAND}`, async () => {
    const pipeline = `seq ${count(harness)} | xargs -P ${WIDTH} -n 1 ${SHELL} -c ${COMMAND}`
    const ms = await medianMs(TRIES, () => run(SHELL, ['-c', pipeline]))
    return (count(harness) / ms) * 1_000
  })

/** Commands per second of a Node process that does nothing else, with output through pipes, each in its own session. */
export const bareNodeRate = (harness: Harness): Promise<number> =>
  harness.once(`limit: bare Node spawning ${SHELL} -c ${COMMAND}, ${WIDTH} at once`, async () => {
    const rates: number[] = []
    for (let attempt = 0; attempt < TRIES; attempt++) rates.push(await spawnRate(count(harness)))
    return rates.sort((a, b) => a - b)[1] ?? 0
  })

async function spawnRate(commands: number): Promise<number> {
  const program = join(import.meta.dirname, 'spawn-loop.ts')
  const args = [program, String(commands), String(WIDTH), SHELL, '-c', COMMAND]
  const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', ...args])
  return Number(stdout)
}
