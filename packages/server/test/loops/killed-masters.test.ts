// long
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventDraft } from '@scanfarm/store/testing'
import { until } from '@scanfarm/testing'
import { module, openTriggerHarness, type TriggerHarness } from '../triggers/_trigger-harness.ts'

/** Set `SCANFARM_SOAK_EVENTS=1000` for a longer run that prints its figures. */
const SOAK = process.env['SCANFARM_SOAK_EVENTS']
const EVENTS = Number(SOAK ?? 120)
const PATIENCE_MS = 60_000 + EVENTS * 200

const onLoad = (more = ''): string => `    on: event
    event:
      topic: custom.load
${more}    input:
      target: event_data.host
`

let harness: TriggerHarness
beforeAll(async () => {
  harness = await openTriggerHarness({
    'plain.yaml': module('plain', onLoad()),
    'even.yaml': module('even', onLoad(`      filters:\n        - event.data.n % 2 === 0\n`)),
  })
})
afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

/** Keeps one master alive by restarting it whenever it was killed. */
class Immortal implements AsyncDisposable {
  #child: ChildProcess | undefined
  #ready: Promise<unknown> = Promise.resolve()
  #running = true
  readonly #life: Promise<void>
  kills = 0

  constructor() {
    this.#life = this.#live()
  }

  async #live(): Promise<void> {
    while (this.#running) {
      const script = join(import.meta.dirname, 'master-program.ts')
      this.#child = spawn(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', script, harness.url, harness.folder],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
        },
      )
      const exit = once(this.#child, 'exit')
      this.#ready = Promise.race([this.#child.stdout ? once(this.#child.stdout, 'data') : exit, exit])
      await exit
    }
  }

  /** Resolves when the master works, which takes a while on a busy machine, or has ended. */
  async works(): Promise<void> {
    await this.#ready
  }

  kill(): void {
    if (this.#child?.kill('SIGKILL') === true) this.kills += 1
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#running = false
    this.#child?.kill('SIGKILL')
    await this.#life
  }
}

test(
  'every workflow runs once for each event although both masters are killed repeatedly',
  async () => {
    await (await harness.master()).registry.current()
    const count = async (statement: string): Promise<number> =>
      Number((await harness.sql(statement))[0]?.['n'])
    const left = () => count('select count(*)::int as n from event_logs where not processed')
    await using first = new Immortal()
    await using second = new Immortal()
    let killing = true
    const kill = async (): Promise<void> => {
      // Some masters are killed during startup, most while they work.
      while (killing) {
        const victim = Math.random() < 0.5 ? first : second
        if (Math.random() < 0.8) await victim.works()
        await delay(Math.random() * 2_000)
        if (killing) victim.kill()
      }
    }
    const killer = kill()
    const kills = (): number => first.kills + second.kills
    const begun = performance.now()
    for (let n = 0; n < EVENTS; n++) {
      // However slowly the masters start, some events are emitted after a kill.
      if (n === EVENTS / 2) await until(async () => kills() > 0, { limitMs: PATIENCE_MS })
      await harness.store.triggers.record(eventDraft('custom.load', { host: `h${n}.test`, n }))
      await delay(50)
    }
    await until(async () => (await left()) === 0, { limitMs: PATIENCE_MS })
    killing = false
    await killer
    const seconds = Math.round((performance.now() - begun) / 1_000)
    if (SOAK !== undefined) console.info(`${EVENTS} events in ${seconds} s, masters killed ${kills()} times`)
    for (const [name, wanted] of [
      ['plain', EVENTS],
      ['even', Math.ceil(EVENTS / 2)],
    ] as const) {
      const of = `from runs where workflow_name = '${name}'`
      expect(await count(`select count(*)::int as n ${of}`)).toBe(wanted)
      expect(await count(`select count(distinct target)::int as n ${of}`)).toBe(wanted)
    }
  },
  PATIENCE_MS * 2 + 60_000,
)
