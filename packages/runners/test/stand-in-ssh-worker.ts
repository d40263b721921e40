import { createSshRunners } from '../src/index.ts'

/** Program of a worker that a test kills while a script runs on its ssh host. */
const [port = '', user = '', keyFile = '', knownHosts = '', folder = '', script = ''] = process.argv.slice(2)
const signal = new AbortController().signal
const provider = createSshRunners({ keyFile, knownHosts })
const runner = await provider.open(
  { type: 'ssh', host: '127.0.0.1', port: Number(port), user },
  {
    runUuid: crypto.randomUUID(),
    attempt: 1,
    folder,
    marker: `stand-in-${process.pid}`,
    signal,
    log: () => {},
  },
)
await runner.run({ argv: ['sh', '-c', script], env: {} }, { signal })
