import { createHostRunners } from '../src/index.ts'

/** Program of a worker that a test kills: runs the script given as last argument. */
const [spawner, folder = '', script = ''] = process.argv.slice(2)
const signal = new AbortController().signal
const provider = createHostRunners({ spawner: spawner === 'perl' ? 'perl' : 'node' })
const runner = await provider.open(
  { type: 'host' },
  {
    runUuid: crypto.randomUUID(),
    attempt: 1,
    folder,
    marker: `stand-in-${process.pid}`,
    signal,
    log: () => {},
  },
)
await runner.run(
  { argv: ['/bin/sh', '-c', script], env: { PATH: '/usr/bin:/bin' } },
  { signal, onOutput: (_, chunk) => void process.stdout.write(chunk) },
)
