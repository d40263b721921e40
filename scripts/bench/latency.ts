import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, closeSync, constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { Database, percentile, post, untilEnded, type Harness } from './farm.ts'
import { atMost, type Figure } from './figure.ts'

/** V8 compiles a function again after 400 to 550 calls, in threads that use the same cores. */
const RUNS_BEFORE = 600

/** On an idle farm: from the moment before `POST /runs` until the command's process writes its first byte. */
export async function* latency(harness: Harness): AsyncGenerator<Figure> {
  const tries = harness.quick ? 40 : 200
  await using cluster = await harness.startCluster({ workers: 1, slots: 4 })
  await using db = await Database.open(cluster.postgres.url)
  const folder = await cluster.traces()
  await using pipe = Pipe.make(join(folder, 'pipe'))
  const body = { module: 'ping', target: 'idle.example.com', params: { folder } }
  let last = ''
  const startRun = () => pipe.timeUntilWritten(async () => void (last = await post(cluster, body)))
  for (let run = 0; run < RUNS_BEFORE; run++) {
    harness.progress(run, RUNS_BEFORE - 1, 'runs on an idle farm, warm-up')
    await startRun()
  }
  const times: number[] = []
  const bare: number[] = []
  for (let attempt = 0; attempt < tries; attempt++) {
    harness.progress(attempt, tries - 1, 'runs on an idle farm, and bare spawns, in turns')
    times.push(await startRun())
    await untilEnded(db, last, { pollMs: 10 })
    bare.push(await pipe.timeUntilWritten(() => void spawn('/bin/sh', ['-c', `echo bare > ${pipe.path}`])))
  }
  for (const percent of [50, 99])
    yield {
      name: `POST to process start on an idle farm, p${percent}`,
      value: percentile(times, percent),
      unit: 'ms',
      limit: { what: 'bare spawn', value: percentile(bare, percent) },
      goal: atMost(percent === 50 ? 1.4 : 2, 'ratio'),
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
