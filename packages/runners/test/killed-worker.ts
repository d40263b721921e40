import type { RunnerSpec } from '@scanfarm/contracts'
import { createRunners, type RunnersOptions } from '../src/index.ts'

/** A worker program that a test kills while a script runs. Arguments: options, spec, folder and script. */
const [options = '{}', spec = '{}', folder = '', script = ''] = process.argv.slice(2)
const signal = new AbortController().signal
const runners = createRunners(JSON.parse(options) as RunnersOptions)
const runner = await runners.open(JSON.parse(spec) as RunnerSpec, {
  runUuid: crypto.randomUUID(),
  attempt: 1,
  folder,
  marker: `killed-worker-${process.pid}`,
  signal,
  log: () => {},
})
await runner.run(
  { argv: ['sh', '-c', script], env: { PATH: '/usr/bin:/bin' } },
  { signal, onOutput: (_, chunk) => void process.stdout.write(chunk) },
)
