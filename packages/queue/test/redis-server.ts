import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { freePort } from '@scanfarm/testing'
import { Redis } from 'ioredis'

/** Long, because the machine may be busy. */
const START_TIMEOUT_MS = 60_000
const START_TRIES = 5

/** A redis-server for one test, which may flush, freeze and kill it. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string
  /** SIGKILL; resolves when the process has exited. All data is lost. */
  kill(): Promise<void>
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>
  /** FLUSHALL. */
  flush(): Promise<void>
  freeze(): void
  thaw(): void
}

/** Starts `redis-server` from PATH on a free port, without persistence. */
export const startRedis = async (settings: readonly string[] = []): Promise<RedisServer> => {
  const started = await launchAnywhere(settings)
  const { port } = started
  let { child } = started
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    async restart() {
      child = await launch(port, settings)
    },
    async flush() {
      const client = new Redis({ port, host: '127.0.0.1' })
      await client.flushall()
      client.disconnect()
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    [Symbol.asyncDispose]: kill,
  }
}

/** Retries if another program took the port before Redis did. */
const launchAnywhere = async (
  settings: readonly string[],
): Promise<{ port: number; child: ChildProcess }> => {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort()
    try {
      return { port, child: await launch(port, settings) }
    } catch (error) {
      if (attempt === START_TRIES || !(error instanceof EndedEarly)) throw error
    }
  }
}

class EndedEarly extends Error {
  override readonly name = 'EndedEarly'
}

const launch = async (port: number, settings: readonly string[]): Promise<ChildProcess> => {
  const base = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', [...base, ...settings], { stdio: ['ignore', 'pipe', 'ignore'] })
  const failed = once(child, 'error').then(([error]) => {
    throw new Error('redis-server could not be started: install Redis, or put it on PATH', { cause: error })
  })
  const late = AbortSignal.timeout(START_TIMEOUT_MS)
  try {
    await Promise.race([ready(child, late), failed])
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  child.stdout?.resume()
  return child
}

const ready = async (child: ChildProcess, signal: AbortSignal): Promise<void> => {
  if (!child.stdout) throw new Error('redis-server has no output')
  const lines = createInterface({ input: child.stdout, signal })
  for await (const line of lines) if (line.includes('Ready to accept connections')) return
  throw new EndedEarly('redis-server ended before it was ready')
}
