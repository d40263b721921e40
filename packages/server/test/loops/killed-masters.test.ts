// long
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { draft, eventDraft } from '@scanfarm/store/testing'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { module, openTriggerHarness } from '../triggers/_trigger-harness.ts'

/** Set `SCANFARM_SOAK_EVENTS=1000` for a longer run that prints its figures. */
const SOAK = process.env['SCANFARM_SOAK_EVENTS']
const EVENTS = Number(SOAK ?? 60)
const PATIENCE_MS = 72_000 + EVENTS * 200

const onLoad = (more = ''): string => `    on: event
    event:
      topic: custom.load
${more}    input:
      target: event_data.host
`

const harness = forAllTests(() =>
  openTriggerHarness({
    'plain.yaml': module('plain', onLoad()),
    'even.yaml': module('even', onLoad(`      filters:\n        - event.data.n % 2 === 0\n`)),
  }),
)

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

test(
  'the end of a job is one message with one delivery id although masters are killed while they send it',
  async () => {
    const { store } = harness
    const arrived: { event: string; delivery: string }[] = []
    let kill: (() => void) | undefined
    await using endpoint = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        const { id } = JSON.parse(body) as { id: string }
        arrived.push({ event: id, delivery: String(request.headers['x-scanfarm-delivery']) })
        // The masters die before they know that it has arrived.
        if (kill === undefined) response.end()
        else kill()
      })
    }).listen(0, '127.0.0.1')
    await once(endpoint, 'listening')
    const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`
    const more = { minSeverity: '', template: '', report: false, secret: 'secret', enabled: true } as const
    await store.webhooks.subscribe({
      name: 'x',
      url,
      topics: ['job.ended'],
      filters: [],
      format: 'json',
      ...more,
    })
    await using first = new Immortal()
    await using second = new Immortal()
    const killed = Promise.withResolvers<void>()
    kill = () => {
      first.kill()
      second.kill()
      killed.resolve()
    }
    const rows = Array.from({ length: 5 }, (_, n) => ({ target: `m${n}.test`, workspace: `m${n}.test` }))
    for (const row of rows) {
      const submitted = await store.jobs.submit(draft(), [row])
      if ('job' in submitted) await store.jobs.requestCancel(submitted.job.jobId)
    }
    await killed.promise
    kill = undefined
    const delivered = await until(
      async () => {
        // The lease of a master that was killed need not be awaited.
        await harness.sql(
          "update webhook_deliveries set next_at = now() where next_at > now() + interval '20 s'",
        )
        const { data } = await store.webhooks.deliveries({}, { offset: 0, limit: 50 })
        return data.filter(({ status }) => status === 'delivered').length === rows.length ? data : undefined
      },
      { limitMs: PATIENCE_MS },
    )
    const events = await harness.sql("select event_id from event_logs where topic = 'job.ended'")
    expect(events).toHaveLength(rows.length)
    expect(delivered.map(({ event_id: id }) => id).toSorted()).toEqual(
      events.map(({ event_id: id }) => id).toSorted(),
    )
    const ids = new Map(delivered.map(({ event_id: event, id }) => [event, String(id)]))
    expect(arrived.length).toBeGreaterThan(rows.length)
    for (const { event, delivery } of arrived) expect(ids.get(event)).toBe(delivery)
  },
  PATIENCE_MS * 2 + 60_000,
)
