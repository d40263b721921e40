import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { providersFrom, type ProvisioningSettings } from '@scanfarm/cloud'
import { openFakeCloud, type FakeCloud } from '@scanfarm/cloud/testing'
import type { CloudInfra, JobStatus, Run, RunDetail, RunsCreated } from '@scanfarm/contracts'
import { readConfig, silentLogger } from '@scanfarm/platform'
import { testDatabase, type TestDatabase } from '@scanfarm/store/testing'
import { until } from '@scanfarm/testing'
import { startServer, type RunningServer } from '../../src/index.ts'
import { openGate, type Gate } from './gate.ts'
import { SETTINGS } from '../../src/settings.ts'

const TOKEN = 'sft_cloud_farm'

/** A server that a test kills is soon taken for lost. No other one is, however busy the host. */
const SHORT_LEASE_MS = 3_000
const LONG_LEASE_MS = 60_000

/** Short intervals. */
const QUICK: Partial<ProvisioningSettings> = {
  reconcileSeconds: 0.2,
  busyReconcileSeconds: 0.1,
  listLagSeconds: 1,
  leaseMs: LONG_LEASE_MS,
}
export const MORTAL: Partial<ProvisioningSettings> = { ...QUICK, leaseMs: SHORT_LEASE_MS }

const WORKFLOWS = {
  'scan.yaml': `kind: module
name: scan
dependencies:
  commands: [sh]
steps:
  - name: look
    type: bash
    command: mkdir -p {{Output}} && echo "found {{target}}" | tee {{Output}}/found.txt
reports:
  - name: found
    path: '{{Output}}/found.txt'
    type: text
`,
  'slow.yaml': `kind: module
name: slow
steps:
  - name: wait
    type: bash
    command: echo waiting; sleep 300
`,
}

interface Answer<T> {
  readonly status: number
  readonly body: T
}

export interface CloudFarm extends AsyncDisposable {
  readonly cloud: FakeCloud
  readonly db: TestDatabase
  start(): Promise<RunningServer>
  /** A server process that can be killed. */
  spawn(): Promise<{ readonly url: string; readonly process: ChildProcess }>
  call<T>(url: string, method: string, path: string, body?: object): Promise<Answer<T>>
  text(url: string, path: string): Promise<string>
  /** The first text of a log that is followed. */
  firstText(url: string, path: string): Promise<string>
  /** Submits a cloud job. */
  submit(url: string, fields: object): Promise<RunsCreated>
  untilInfra(url: string, id: string, what: (infra: CloudInfra) => boolean): Promise<CloudInfra>
  untilJob(url: string, id: string, what: (job: JobStatus) => boolean): Promise<JobStatus>
  /** The process of a run on its machine. */
  untilPid(url: string, uuid: string): Promise<number>
  untilRun(url: string, id: string, what: (run: RunDetail) => boolean): Promise<RunDetail>
}

let starting: Promise<unknown> = Promise.resolve()

/** Servers of concurrent tests start one after another: a start fails when a connection takes longer than 5 s. */
const inTurn = <T>(start: () => Promise<T>): Promise<T> => {
  const started = starting.then(start)
  starting = started.catch(() => undefined)
  return started
}

/** Servers on one database, with a cloud of real sshd servers. */
export async function openCloudFarm(): Promise<CloudFarm> {
  await using scope = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-cloud-farm-'))
  scope.defer(() => rm(folder, { recursive: true, force: true }))
  const db = scope.use(await testDatabase())
  const cloud = scope.adopt(await openFakeCloud(), (opened) => opened.close())
  const gate: Gate = scope.use(await openGate(cloud))
  await mkdir(join(folder, 'workflows'))
  for (const [name, yaml] of Object.entries(WORKFLOWS)) await writeFile(join(folder, 'workflows', name), yaml)
  let servers = 0
  const settingsOf = (leaseMs: number): Record<string, unknown> => {
    servers += 1
    return {
      data_dir: join(folder, `data-${servers}`),
      // The fake machines share the files of this host except this folder.
      'worker.folder': cloud.ownFolder,
      'runner.user': 'root',
      'database.url': db.url,
      'workflows.folders': [join(folder, 'workflows')],
      'artifacts.folder': join(folder, 'artifacts'),
      'auth.initial_token': TOKEN,
      'http.port': 0,
      'local.slots': 0,
      'worker.lease_ms': leaseMs,
      'worker.drain_ms': 500,
      'cloud.enabled': true,
    }
  }

  const send = (url: string, method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${url}/api${path}`, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    })
  const call = async <T>(url: string, method: string, path: string, body?: object): Promise<Answer<T>> => {
    const response = await send(url, method, path, body)
    return { status: response.status, body: (await response.json()) as T }
  }
  const data = async <T>(url: string, path: string): Promise<T> =>
    (await call<{ data: T }>(url, 'GET', path)).body.data
  const opened = scope.move()
  return {
    cloud,
    db,
    start: () =>
      inTurn(() =>
        startServer(
          readConfig(SETTINGS, { env: {}, argvOverrides: settingsOf(LONG_LEASE_MS) }),
          {},
          {
            log: silentLogger,
            providers: providersFrom({ local: async () => cloud }, {}, silentLogger),
            provisioning: QUICK,
            checkResponses: true,
          },
        ),
      ),
    async spawn() {
      const script = join(import.meta.dirname, 'server-program.ts')
      const child = spawn(
        process.execPath,
        [
          '--disable-warning=ExperimentalWarning',
          script,
          JSON.stringify(settingsOf(SHORT_LEASE_MS)),
          gate.url,
        ],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
        },
      )
      const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
      return { url, process: child }
    },
    call,
    text: async (url, path) => (await send(url, 'GET', path)).text(),
    async firstText(url, path) {
      const { body } = await send(url, 'GET', `${path}?follow=true`)
      let received = ''
      for await (const part of body ?? []) {
        received += Buffer.from(part).toString()
        const [, data] = /^data: (.*)\n\n/m.exec(received) ?? []
        if (data !== undefined) return (JSON.parse(data) as { text: string }).text
      }
      throw new Error(`the log has ended: ${received}`)
    },
    async submit(url, fields) {
      const { status, body } = await call<RunsCreated>(url, 'POST', '/runs', { run_mode: 'cloud', ...fields })
      if (status !== 202) throw new Error(`refused: ${JSON.stringify(body)}`)
      return body
    },
    untilInfra: (url, id, what) => until(() => data<CloudInfra>(url, `/cloud/instances/${id}`), what),
    untilJob: (url, id, what) =>
      until(async () => (await call<JobStatus>(url, 'GET', `/jobs/${id}`)).body, what),
    async untilPid(url, uuid) {
      const pids = async () =>
        (await data<Run[]>(url, '/runs'))
          .filter(({ run_uuid: one }) => one === uuid)
          .map(({ current_pid: pid }) => pid)
      const [pid = 0] = await until(pids, ([one = 0]) => one > 0)
      return pid
    },
    untilRun: (url, id, what) => until(() => data<RunDetail>(url, `/runs/${id}`), what),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
