import { randomUUID } from 'node:crypto'
import { Loop, type Logger } from '@scanfarm/platform'
import type { CloudStore } from '@scanfarm/store'
import type { CloudProviders } from '../open-providers.ts'
import { lookOnce } from './look-once.ts'
import type { LifeMetrics } from './look.ts'
import { reapOnce } from './reap-once.ts'
import { LIFE_DEFAULTS, type LifeSettings } from './settings.ts'

/** The reaper's turns of several servers come a little early or late. */
const REAP_TOLERANCE = 0.9

export interface CloudLoopsOptions {
  readonly store: CloudStore
  readonly providers: CloudProviders
  /** Labels the farm's machines. */
  readonly farmId: string
  readonly log: Logger
  /** What is left out is as in `LIFE_DEFAULTS`. */
  readonly settings?: Partial<LifeSettings>
  readonly metrics?: LifeMetrics
}

export interface CloudLoops extends AsyncDisposable {
  /** An infrastructure may need a look: look now. */
  wake(): void
}

/** Makes, watches and destroys machines. Any number of servers may do so; the rows decide who does what. */
export function startCloudLoops(options: CloudLoopsOptions): CloudLoops {
  const settings: LifeSettings = { ...LIFE_DEFAULTS, ...options.settings }
  const lookers = Array.from({ length: settings.looksAtOnce }, () => lookerOf(options, settings))
  const loops = [...lookers, reaperOf(options, settings)]
  for (const loop of loops) loop.start()
  return {
    wake() {
      for (const loop of lookers) loop.wake()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()))
    },
  }
}

/** Each has a name of its own: what one holds is not another's, in this process either. */
const lookerOf = (options: CloudLoopsOptions, settings: LifeSettings): Loop => {
  const owner = randomUUID()
  const { log } = options
  return new Loop({
    name: 'look at machines',
    intervalMs: settings.pollMs,
    log,
    turn: (signal) => lookOnce({ ...options, settings, owner, signal }),
  })
}

const reaperOf = (options: CloudLoopsOptions, settings: LifeSettings): Loop => {
  const intervalMs = settings.reaperSeconds * 1000
  return new Loop({
    name: 'reap machines',
    intervalMs,
    log: options.log,
    turn: (signal) => reapAll(options, intervalMs * REAP_TOLERANCE, signal),
  })
}

async function reapAll(options: CloudLoopsOptions, everyMs: number, signal: AbortSignal): Promise<void> {
  const { providers, store, log } = options
  for (const name of providers.configured) {
    if (signal.aborted || !(await store.reaping(name, everyMs))) continue
    try {
      await reapOnce({ ...options, provider: await providers.get(name), signal })
    } catch (error) {
      if (!signal.aborted) log.warn('leftover machines cannot be looked for', { provider: name, error })
    }
  }
}
