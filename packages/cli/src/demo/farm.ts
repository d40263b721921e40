import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, existsSync, fchmodSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Api } from '../client/api.ts'
import { CliError, EXIT } from '../exit.ts'
import type { LabTarget } from './lab.ts'
import type { DemoSetup, Machines, MachinesState } from './machines.ts'
import { alive, stop } from './processes.ts'
import { say } from './screen.ts'
import { endMachines } from './watch-machines.ts'

const WORKERS = 2
const START_MS = 120_000
const POLL_MS = 100
const OWNER_ONLY = 0o600
const LAB = new URL('lab-program.ts', import.meta.url)

const stateFile = (folder: string): string => join(folder, 'demo.json')
const tokenOf = (folder: string): string => readFileSync(join(folder, 'admin-token'), 'utf8').trim()

/** Settings of another farm: its address in the environment would make the worker join that one. */
const isSetting = (name: string): boolean => name.startsWith('SCANFARM_')

const ownEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSetting(name)))

/** What of a farm keeps running. */
interface KeptState {
  readonly url: string
  readonly processes: readonly { readonly name: string; readonly pid: number }[]
  readonly machines?: MachinesState
}

/**
 * The processes of the demo: a master, its workers, and the lab; with `cloud` also the engine of its machines. Disposing stops
 * them in an order that drains them, and removes the machines.
 */
export class Farm implements AsyncDisposable {
  readonly url: string
  token = ''
  targets: LabTarget[] = []
  readonly machines: Machines | undefined
  readonly #setup: DemoSetup
  readonly #children: { name: string; process: ChildProcess }[] = []
  #kept = false
  #ending: Promise<void> | undefined

  private constructor(setup: DemoSetup, url: string, machines: Machines | undefined) {
    this.#setup = setup
    this.url = url
    this.machines = machines
  }

  static async start(setup: DemoSetup, options: { keep: boolean; cloud: boolean }): Promise<Farm> {
    const { folder } = setup
    refuseSecond(setup)
    const port = await freePort()
    const machines = options.cloud ? await (await setup.loadMachines?.())?.open(options.keep) : undefined
    const farm = new Farm(setup, `http://127.0.0.1:${port}`, machines)
    const stop = () => void farm[Symbol.asyncDispose]().finally(() => process.exit(130))
    process.once('SIGINT', stop).once('SIGTERM', stop).once('SIGHUP', stop)
    try {
      farm.#spawn('master', ['server', '--master', '--port', String(port)])
      await farm.#until('the master is ready', async () => (await fetch(`${farm.url}/health/ready`)).ok)
      farm.token = tokenOf(folder)
      for (let number = 1; number <= WORKERS; number++) {
        farm.#spawn(`worker-${number}`, ['worker', '--name', `worker-${number}`])
      }
      await farm.#startLab(options.keep)
      await farm.#until('the workers have joined', () => farm.#workersJoined())
    } catch (error) {
      await farm[Symbol.asyncDispose]()
      throw error
    }
    return farm
  }

  /** Which database and queue the master uses, from its log, and what of the environment it does not. */
  services(): string[] {
    const lines = readFileSync(join(this.#setup.folder, 'master.log'), 'utf8').split('\n')
    const ignored = Object.keys(process.env).filter(isSetting)
    return [
      ...new Set(lines.flatMap((line) => /(?:database|queue): [^"\u001b]+/.exec(line)?.[0] ?? [])),
      ...(ignored.length === 0 ? [] : [`not used in the demo: ${ignored.join(', ')}`]),
    ]
  }

  /** Lets all processes continue when this one ends; `stopKept` finds them by the state file. */
  leaveRunning(): void {
    this.#kept = true
    const processes = this.#children.map(({ name, process }) => ({ name, pid: process.pid }))
    const state = { url: this.url, processes, machines: this.machines?.state }
    writeFileSync(stateFile(this.#setup.folder), JSON.stringify(state, null, 2), { mode: OWNER_ONLY })
    for (const { process } of this.#children) process.unref()
  }

  /** Runs once: Ctrl-C calls it, and so does the end of the work that Ctrl-C interrupts. */
  async [Symbol.asyncDispose](): Promise<void> {
    await (this.#ending ??= this.#end())
  }

  async #end(): Promise<void> {
    if (this.#kept) return
    for (const { process } of this.#children.toReversed()) {
      if (process.pid !== undefined) await stop(process.pid)
    }
    await this.machines?.[Symbol.asyncDispose]()
  }

  /** In its own session: Ctrl-C would reach it together with our signal, and a second signal skips the drain. */
  #spawn(name: string, args: readonly string[]): void {
    const log = openSync(join(this.#setup.folder, `${name}.log`), 'w', OWNER_ONLY)
    // The mode above only applies to a new file.
    fchmodSync(log, OWNER_ONLY)
    const [command = '', ...before] = this.#setup.program
    const child = spawn(command, [...before, ...args], {
      stdio: ['ignore', log, log],
      detached: true,
      env: { ...ownEnvironment(), SCANFARM_DATA_DIR: this.#setup.folder, ...this.machines?.env },
    })
    closeSync(log)
    this.#children.push({ name, process: child })
  }

  async #startLab(detached: boolean): Promise<void> {
    const host = this.machines === undefined ? [] : ['--host', this.machines.host]
    const args = [
      '--disable-warning=ExperimentalWarning',
      fileURLToPath(LAB),
      ...host,
      ...(detached ? ['--detached'] : []),
    ]
    // The lab serves while its standard input is open, so it always ends with the demo.
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
    const { data } = await new Api(this).call(({ GET }) => GET('/workers'))
    return data.filter(({ kind, status }) => kind === 'worker' && status !== 'lost').length >= WORKERS
  }

  async #until(what: string, ready: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + START_MS
    while (!(await ready().catch(() => false))) {
      const ended = this.#children.find(
        ({ process }) => process.exitCode !== null || process.signalCode !== null,
      )
      if (ended)
        throw new Error(
          `${ended.name} ended while waiting until ${what} (to start with an empty farm, remove ${this.#setup.folder}):\n${this.#tail(ended.name)}`,
        )
      if (Date.now() > deadline)
        throw new Error(`gave up waiting until ${what}; the logs are in ${this.#setup.folder}`)
      await delay(POLL_MS)
    }
  }

  #tail(name: string): string {
    const file = join(this.#setup.folder, `${name}.log`)
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(-20).join('\n') : ''
  }
}

const readState = (folder: string): KeptState | undefined =>
  existsSync(stateFile(folder))
    ? (JSON.parse(readFileSync(stateFile(folder), 'utf8')) as KeptState)
    : undefined

const livingOf = (state: KeptState | undefined) => state?.processes.filter(({ pid }) => alive(pid)) ?? []

function refuseSecond({ folder, command }: DemoSetup): void {
  if (livingOf(readState(folder)).length > 0)
    throw new CliError(EXIT.failed, `a demo farm is running; stop it first with: ${command} --down`)
}

/** Stops what `--keep` left running. */
export async function stopKept({ folder, loadMachines }: DemoSetup): Promise<number> {
  const state = readState(folder)
  const processes = livingOf(state)
  if (processes.length === 0) say('no demo farm is running')
  if (state?.machines !== undefined && processes.length > 0)
    await endMachines(new Api({ url: state.url, token: tokenOf(folder) })).catch((error: unknown) =>
      say(`the farm did not destroy its machines: ${String(error)}`),
    )
  for (const { name, pid } of processes.toReversed()) {
    await stop(pid)
    say(`stopped ${name}`)
  }
  if (state?.machines !== undefined) {
    await using _ = (await loadMachines?.())?.again(state.machines)
    say('removed the machines')
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
