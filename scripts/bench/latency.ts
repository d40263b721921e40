import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, closeSync, constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Harness } from './harness.ts'
import { Database, post, startCluster, untilEnded } from './cluster.ts'
import { atMost, type Figure } from './figure.ts'
import { BareProgram } from './limits/bare-program.ts'
import { percentile } from './timing.ts'

/** V8 compiles a function again after 400 to 550 calls, in threads that use the same cores. */
const RUNS_BEFORE = 600
const WARM_UP = 10
/** Runs of the bare farm follow each other at about the pace of the farm's. */
const PAUSE_MS = 20

/** (c) On an idle farm: from the moment before `POST /runs` until the command's process writes its first byte. */
export async function* latency(harness: Harness): AsyncGenerator<Figure> {
  const tries = harness.quick ? 40 : 200
  await using cluster = await startCluster(harness, { workers: 1, slots: 4 })
  await using db = await Database.open(cluster.postgres.url)
  const folder = await cluster.traces()
  await using pipe = Pipe.make(join(folder, 'pipe'))
  const bareSpawn = () =>
    pipe.timeUntilWritten(() => void spawn('/bin/sh', ['-c', `echo bare > ${pipe.path}`]))

  /** Times of `start` and of bare spawns, in turns. */
  const inTurns = async (
    what: string,
    start: () => Promise<number>,
    untilIdle: () => Promise<unknown>,
  ): Promise<[number[], number[]]> => {
    for (let run = 0; run < RUNS_BEFORE; run++) {
      harness.progress(run, RUNS_BEFORE - 1, `${what}, warm-up`)
      await start()
    }
    const times: [number[], number[]] = [[], []]
    for (let attempt = -WARM_UP; attempt < tries; attempt++) {
      harness.progress(Math.max(attempt, 0), tries - 1, what)
      const started = await start()
      await untilIdle()
      const pair = [started, await bareSpawn()]
      if (attempt >= 0) for (const [index, ms] of pair.entries()) times[index]?.push(ms)
    }
    return times
  }

  const body = { module: 'ping', target: 'idle.example.com', params: { folder } }
  let last = ''
  const [times, bare] = await inTurns(
    'runs on an idle farm',
    () => pipe.timeUntilWritten(async () => void (last = (await post(cluster, body)).job_id)),
    () => untilEnded(db, last, { pollMs: 10 }),
  )
  for (const percent of [50, 99])
    yield {
      part: 'c',
      name: `POST to process start on an idle farm, p${percent}`,
      value: percentile(times, percent),
      unit: 'ms',
      limit: { what: 'bare spawn', value: percentile(bare, percent) },
      target: atMost(percent === 50 ? 1.4 : 2, 'ratio'),
    }

  const urls = [cluster.postgres.url, cluster.redis?.url ?? '']
  using master = await BareProgram.start('bare-farm.ts', 'master', ...urls)
  using _worker = await BareProgram.start('bare-farm.ts', 'worker', ...urls)
  const command = `echo bare farm > ${pipe.path}`
  const [least, besides] = await inTurns(
    'runs on a bare farm of the same libraries',
    () =>
      pipe.timeUntilWritten(async () => {
        await fetch(`http://127.0.0.1:${master.said}/`, { method: 'POST', body: command })
      }),
    () => delay(PAUSE_MS),
  )
  for (const percent of [50, 99])
    yield {
      part: 'c',
      name: `the same on a bare farm of the same libraries, p${percent}`,
      value: percentile(least, percent),
      unit: 'ms',
      limit: { what: 'bare spawn', value: percentile(besides, percent) },
    }
}

/** A named pipe that commands write to, whatever user they run as. */
class Pipe implements AsyncDisposable {
  readonly path: string
  readonly #socket: Socket
  readonly #keepOpen: number

  private constructor(path: string) {
    this.path = path
    this.#socket = new Socket({
      fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
      readable: true,
    })
    // Without another writer, the end of each command would end the pipe.
    this.#keepOpen = openSync(path, constants.O_WRONLY)
  }

  static make(path: string): Pipe {
    execFileSync('mkfifo', [path])
    chmodSync(path, 0o666)
    return new Pipe(path)
  }

  /** Milliseconds from before `begin` until a line arrives; waits for `begin` too. */
  async timeUntilWritten(begin: () => Promise<void> | void): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>()
    this.#socket.once('data', () => resolve(performance.now()))
    const began = performance.now()
    const [written] = await Promise.all([promise, begin()])
    return written - began
  }

  async [Symbol.asyncDispose](): Promise<void> {
    closeSync(this.#keepOpen)
    this.#socket.destroy()
  }
}
