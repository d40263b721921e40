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
import { SMTPServer } from 'smtp-server'
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

const spawnMaster = (mailUrl = ''): ChildProcess =>
  spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, 'master-program.ts'),
      harness.url,
      harness.folder,
      mailUrl,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] } },
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
      this.#child = spawnMaster()
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
    killing = false
    await killer
    await until(async () => (await left()) === 0, { limitMs: PATIENCE_MS })
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

/** Two masters that are killed, and have ended, when the returned function resolves. */
const startMasters = (mailUrl: string): (() => Promise<unknown>) => {
  const masters = [1, 2].map(() => spawnMaster(mailUrl))
  const ends = masters.map((master) => once(master, 'exit'))
  return () => {
    for (const master of masters) master.kill('SIGKILL')
    return Promise.all(ends)
  }
}

test(
  'of messages and mails only those in flight are sent again, with the same id, when masters are killed',
  async () => {
    const { store, sql } = harness
    /** Ids of deliveries, in the order in which they arrived. */
    const arrived: string[] = []
    let [begun, enough] = [0, Promise.withResolvers<void>()]
    let isKilling = true
    /** Every second one is in flight when the masters are killed: it gets no answer. */
    const arrives = (id: string, answer: () => void): void => {
      arrived.push(id)
      if (arrived.length === begun + 17) enough.resolve()
      if (!isKilling || arrived.length % 2 === 0) answer()
    }
    await using endpoint = createServer((request, response) => {
      request.resume().on('end', () => {
        arrives(String(request.headers['x-scanfarm-delivery']), () => void response.end())
      })
    }).listen(0, '127.0.0.1')
    const smtp = new SMTPServer({
      disabledCommands: ['STARTTLS', 'AUTH'],
      onData: (stream, _, done) => {
        let mail = ''
        stream.on('data', (chunk: Buffer) => (mail += chunk.toString()))
        stream.on('end', () => {
          arrives(/^Message-ID: <evt_\S+\.(\d+)@/im.exec(mail)?.[1] ?? 'without an id', done)
        })
      },
    })
    // The connection of a master that was killed may end with a reset.
    smtp.on('error', () => undefined)
    const mailServer = smtp.listen(0, '127.0.0.1')
    await Promise.all([once(endpoint, 'listening'), once(mailServer, 'listening')])
    const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port
    const same = {
      topics: ['job.ended'],
      filters: [],
      min_severity: '',
      template: '',
      report: false,
    } as const
    for (const [format, url] of [
      ['json', `http://127.0.0.1:${portOf(endpoint)}/`],
      ['mail', 'mailto:ops@example.com'],
    ] as const)
      await store.webhooks.subscribe({ name: format, format, url, secret: 'secret', enabled: true, ...same })
    const JOBS = 60
    for (let n = 0; n < JOBS; n++) {
      const submitted = await store.jobs.submit(draft(), [{ target: `m${n}.test`, workspace: `m${n}.test` }])
      if ('job' in submitted) await store.jobs.requestCancel(submitted.job.jobId)
    }
    const idsOf = async (condition: string): Promise<string[]> =>
      (await sql(`select id from webhook_deliveries where ${condition} order by id`)).map(({ id }) =>
        String(id),
      )
    const mailUrl = `smtp://127.0.0.1:${portOf(mailServer)}`
    const again = new Set<string>()
    for (const _round of [1, 2]) {
      ;[begun, enough] = [arrived.length, Promise.withResolvers()]
      const kill = startMasters(mailUrl)
      await enough.promise
      await kill()
      for (const id of await idsOf(`status = 'pending' and attempts > 0`)) again.add(id)
      await sql(`update webhook_deliveries set next_at = now() where status = 'pending'`)
    }
    isKilling = false
    const kill = startMasters(mailUrl)
    const done = () => idsOf(`status = 'delivered'`)
    await until(async () => (await done()).length === 2 * JOBS, { limitMs: PATIENCE_MS })
    await kill()
    await new Promise<void>((resolve) => smtp.close(() => resolve()))
    expect([...new Set(arrived)].toSorted()).toEqual((await done()).toSorted())
    const twice = arrived.filter((id, at) => arrived.indexOf(id) !== at)
    expect(twice.length).toBeGreaterThan(0)
    for (const id of twice) expect([...again]).toContain(id)
    const events = await sql(
      `select count(*)::int as n, count(distinct event_id)::int as events from webhook_deliveries`,
    )
    expect(events).toEqual([{ n: 2 * JOBS, events: JOBS }])
  },
  PATIENCE_MS * 2 + 60_000,
)
