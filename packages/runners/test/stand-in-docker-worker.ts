import { createDockerRunners } from '../src/index.ts'
import { TEST_IMAGE } from './docker-engine.ts'

/** Program of a worker that a test kills while a script runs in its container. */
const [engine = '', folder = '', script = ''] = process.argv.slice(2)
const signal = new AbortController().signal
const provider = createDockerRunners({ engine, owner: 'stand-in', files: 'mount' })
const runner = await provider.open(
  { type: 'docker', image: TEST_IMAGE },
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
