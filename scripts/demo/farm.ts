import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { LabTarget } from './lab.ts'
import { say } from './screen.ts'

const WORKERS = 2
const START_MS = 120_000
const STOP_MS = 20_000
const POLL_MS = 100
const PROGRAM = join(import.meta.dirname, '../scanfarm')
const LAB = join(import.meta.dirname, 'lab.ts')

const stateFile = (folder: string): string => join(folder, 'demo.json')
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The processes of the demo: a master, its workers, and the lab. Disposing stops them in the order that drains. */
export class Farm implements AsyncDisposable {
  readonly url: string
  token = ''
  targets: LabTarget[] = []
  readonly #folder: string
  readonly #children: { name: string; process: ChildProcess }[] = []
  #kept = false

  private constructor(folder: string, url: string) {
    this.#folder = folder
    this.url = url
  }

  static async start(folder: string, options: { keep: boolean }): Promise<Farm> {
    refuseSecond(folder)
    const port = await freePort()
    const farm = new Farm(folder, `http://127.0.0.1:${port}`)
    const stop = () => void farm[Symbol.asyncDispose]().finally(() => process.exit(130))
    process.once('SIGINT', stop).once('SIGTERM', stop)
    try {
      farm.#spawn('master', ['server', '--master', '--port', String(port)], options.keep)
      await farm.#until('the master is ready', async () => (await fetch(`${farm.url}/health/ready`)).ok)
      farm.token = process.env.SCANFARM_TOKEN ?? readFileSync(join(folder, 'admin-token'), 'utf8').trim()
      for (let number = 1; number <= WORKERS; number++) {
        farm.#spawn(`worker-${number}`, ['worker', '--name', `worker-${number}`], options.keep)
      }
      await farm.#startLab(options.keep)
      await farm.#until('the workers have joined', () => farm.#workersJoined())
    } catch (error) {
      await farm[Symbol.asyncDispose]()
      throw error
    }
    return farm
  }

  /** Which database and queue the master uses, as it said itself. */
  services(): string[] {
    const lines = readFileSync(join(this.#folder, 'master.log'), 'utf8').split('\n')
    return [...new Set(lines.flatMap((line) => /(?:database|queue): [^"\u001b]+/.exec(line)?.[0] ?? []))]
  }

  /** Lets all processes go on when this one ends; `stopKept` finds them by the state file. */
  leaveRunning(): void {
    this.#kept = true
    const processes = this.#children.map(({ name, process }) => ({ name, pid: process.pid }))
    writeFileSync(stateFile(this.#folder), JSON.stringify({ url: this.url, processes }, null, 2))
    for (const { process } of this.#children) process.unref()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#kept) return
    for (const { process } of this.#children.toReversed()) {
      if (process.pid !== undefined) await stop(process.pid)
    }
  }

  #spawn(name: string, args: readonly string[], detached: boolean): void {
    const log = openSync(join(this.#folder, `${name}.log`), 'w')
    const child = spawn(PROGRAM, args, {
      stdio: ['ignore', log, log],
      detached,
      env: { ...process.env, SCANFARM_DATA_DIR: this.#folder },
    })
    closeSync(log)
    this.#children.push({ name, process: child })
  }

  async #startLab(detached: boolean): Promise<void> {
    const args = ['--disable-warning=ExperimentalWarning', LAB, ...(detached ? ['--detached'] : [])]
    // While its standard input is open the lab serves: it ends with the demo, however that ends.
    const child = spawn(process.execPath, args, {
      stdio: [detached ? 'ignore' : 'pipe', 'pipe', 'ignore'],
      detached,
    })
    this.#children.push({ name: 'lab', process: child })
    if (child.stdout === null) throw new Error('the lab has no output')
    for await (const line of createInterface({ input: child.stdout })) {
      this.targets = JSON.parse(line) as LabTarget[]
      break
    }
    child.stdout.destroy()
  }

  async #workersJoined(): Promise<boolean> {
    const answer = await fetch(`${this.url}/api/workers`, {
      headers: { authorization: `Bearer ${this.token}` },
    })
    if (!answer.ok) return false
    const { data } = (await answer.json()) as { data: { kind: string; status: string }[] }
    return data.filter(({ kind, status }) => kind === 'worker' && status !== 'lost').length >= WORKERS
  }

  async #until(what: string, ready: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + START_MS
    while (!(await ready().catch(() => false))) {
      const ended = this.#children.find(
        ({ process }) => process.exitCode !== null || process.signalCode !== null,
      )
      if (ended)
        throw new Error(`${ended.name} ended while waiting until ${what}:\n${this.#tail(ended.name)}`)
      if (Date.now() > deadline)
        throw new Error(`gave up waiting until ${what}; the logs are in ${this.#folder}`)
      await delay(POLL_MS)
    }
  }

  #tail(name: string): string {
    const file = join(this.#folder, `${name}.log`)
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(-20).join('\n') : ''
  }
}

const kept = (folder: string): { name: string; pid: number }[] => {
  if (!existsSync(stateFile(folder))) return []
  const state = JSON.parse(readFileSync(stateFile(folder), 'utf8')) as {
    processes: { name: string; pid: number }[]
  }
  return state.processes.filter(({ pid }) => alive(pid))
}

function refuseSecond(folder: string): void {
  if (kept(folder).length > 0)
    throw new Error('a demo farm is running; stop it first with: npm run demo -- --down')
}

async function stop(pid: number): Promise<void> {
  if (!alive(pid)) return
  process.kill(pid, 'SIGTERM')
  const deadline = Date.now() + STOP_MS
  while (alive(pid) && Date.now() < deadline) await delay(POLL_MS)
  if (alive(pid)) process.kill(pid, 'SIGKILL')
}

/** Stops what `--keep` left running. */
export async function stopKept(folder: string): Promise<number> {
  const processes = kept(folder)
  if (processes.length === 0) say('no demo farm is running')
  for (const { name, pid } of processes.toReversed()) {
    await stop(pid)
    say(`stopped ${name}`)
  }
  rmSync(stateFile(folder), { force: true })
  return 0
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
