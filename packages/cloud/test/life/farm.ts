import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { CloudInfra, RunDetail } from '@scanfarm/contracts'
import { silentLogger } from '@scanfarm/platform'
import type { CloudBudget, CloudStore, InfraDraft, JobDraft, Store } from '@scanfarm/store'
import { testDatabase, type TestDatabase } from '@scanfarm/store/testing'
import { lookOnce, type LookOnceDeps } from '../../src/life/look-once.ts'
import { LIFE_DEFAULTS, type LifeSettings } from '../../src/life/settings.ts'
import { startCloudLoops, type CloudLoops } from '../../src/life/start-cloud-loops.ts'
import { providersFrom, type CloudProviders } from '../../src/open-providers.ts'
import { openTestCloud, type TestCloud } from './test-cloud.ts'

/** Only ends a hang: a busy machine takes many times as long as a quiet one. */
const DEADLINE_MS = 60_000
export const FARM = 'the-farm'

/** Nothing waits for long. */
export const QUICK: LifeSettings = {
  ...LIFE_DEFAULTS,
  lookSeconds: 0.05,
  busyLookSeconds: 0.05,
  reaperSeconds: 3_600,
  showSeconds: 0.3,
  sshTimeoutMs: 20_000,
  holdMs: 60_000,
  pollMs: 50,
}

export interface TestFarm extends AsyncDisposable {
  readonly db: TestDatabase
  readonly store: Store
  readonly cloud: TestCloud
  readonly providers: CloudProviders
  readonly settings: LifeSettings
  request(changes?: Partial<InfraDraft>): Promise<CloudInfra>
  /** A cloud job with one run for each target; its infrastructure and runs. */
  submit(
    targets: number,
    infra: Partial<InfraDraft> | { reuse: string },
    steps?: readonly unknown[],
  ): Promise<{ infraId: string; runIds: number[] }>
  loops(settings?: Partial<LifeSettings>, store?: CloudStore): CloudLoops
  look(changes?: Partial<LookOnceDeps>): Promise<boolean>
  infra(infraId: string): Promise<CloudInfra>
  untilInfra(infraId: string, what: (infra: CloudInfra) => boolean): Promise<CloudInfra>
  run(runId: number): Promise<RunDetail>
  untilRun(runId: number, what: (run: RunDetail) => boolean): Promise<RunDetail>
}

/** A real database and a cloud on this machine. */
export async function openFarm(): Promise<TestFarm> {
  await using scope = new AsyncDisposableStack()
  const db = scope.use(await testDatabase())
  const cloud = scope.adopt(await openTestCloud(), (opened) => opened.close())
  const providers = scope.use(providersFrom({ local: async () => cloud }, {}, silentLogger))
  const { store } = db
  const infra = async (infraId: string): Promise<CloudInfra> => {
    const found = await store.cloud.find(infraId)
    if (found === undefined) throw new Error(`there is no infrastructure ${infraId}`)
    return found
  }
  const run = async (runId: number): Promise<RunDetail> => {
    const found = await store.runs.find(String(runId))
    if (found === undefined) throw new Error(`there is no run ${runId}`)
    return found
  }
  const settings = { ...QUICK, workFolder: cloud.ownFolder }
  const common = { store: store.cloud, providers, farmId: FARM, log: silentLogger, settings }
  const opened = scope.move()
  return {
    db,
    store,
    cloud,
    providers,
    settings,
    request: (changes = {}) => store.cloud.request(infraDraft(changes), BUDGET),
    async submit(count, choice, steps = [{ name: 'one', type: 'bash', command: 'true' }]) {
      const targets = Array.from({ length: count }, (_, n) => ({
        target: `t${n}.test`,
        workspace: `t${n}.test`,
      }))
      const cloudChoice = 'reuse' in choice ? choice : { infra: infraDraft(choice), budget: BUDGET }
      const answer = await store.jobs.submit(jobOf(steps), targets, { cloud: cloudChoice })
      if (!('job' in answer)) throw new Error('a kept answer came instead of a job')
      const { data } = await store.runs.list({ jobId: answer.job.jobId }, { offset: 0, limit: 1_000 })
      return { infraId: answer.job.infra?.infraId ?? '', runIds: data.map(({ id }) => id).reverse() }
    },
    loops: (changes = {}, own = store.cloud) =>
      startCloudLoops({ ...common, store: own, settings: { ...settings, ...changes } }),
    look: (changes = {}) =>
      lookOnce({ ...common, owner: 'looker', signal: new AbortController().signal, ...changes }),
    infra,
    untilInfra: (infraId, what) => until(() => infra(infraId), what),
    run,
    untilRun: (runId, what) => until(() => run(runId), what),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

export const statuses = ({ details }: CloudInfra): string[] => details.map(({ status }) => status)
export const isReady = ({ status }: CloudInfra): boolean => status === 'ready'
/** With all its machines. */
export const isEnded = ({ status, details }: CloudInfra): boolean =>
  (status === 'destroyed' || status === 'failed') &&
  details.every((one) => one.status === 'destroyed' || one.status === 'failed')

/** Leaves a farm without machines and faults for the next test. */
export async function clearAway(farm: TestFarm): Promise<void> {
  const { cloud, store } = farm
  cloud.faults = {}
  cloud.showAll()
  await using _loops = farm.loops()
  const page = await store.cloud.list({}, { offset: 0, limit: 100 })
  for (const infra of page.data.filter((one) => !isEnded(one))) {
    await store.cloud.drain(infra.infra_id, 'the test is over')
    await farm.untilInfra(infra.infra_id, isEnded)
  }
  for (const name of cloud.names) await cloud.vanish(name)
  cloud.created.length = 0
  cloud.createCalls = 0
}

/** Asks again and again until the answer is right. */
export async function until<T>(ask: () => Promise<T>, what: (answer: T) => boolean): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    const answer = await ask()
    if (what(answer)) return answer
    if (performance.now() > deadline) throw new Error(`it stays ${JSON.stringify(answer, null, 1)}`)
    await delay(20)
  }
}

const BUDGET: CloudBudget = {
  instances: 100,
  totalInstances: 1_000,
  hours: 100,
  totalInstanceHours: null,
  cost: null,
  totalCost: null,
}

const infraDraft = (changes: Partial<InfraDraft>): InfraDraft => ({
  provider: 'local',
  region: 'here',
  instanceType: 'small',
  useSpot: false,
  instances: 1,
  autoDestroy: false,
  hours: 1,
  hourlyPrice: 0.01,
  tools: ['sh'],
  ...changes,
})

const jobOf = (steps: readonly unknown[]): JobDraft => {
  const root = { kind: 'module', name: 'under-test', steps }
  const json = JSON.stringify({ format: 1, root, modules: {} })
  return {
    workflowName: 'under-test',
    workflowKind: 'module',
    workflow: { hash: createHash('sha256').update(json).digest('hex'), json },
    params: {},
    priority: 'normal',
    runMode: 'cloud',
    runnerType: 'host',
    runnerGiven: true,
    dockerImage: '',
    sshHost: '',
    timeoutMinutes: null,
    concurrency: null,
    requirementClass: '',
    triggerType: 'manual',
    triggerName: '',
    scheduleId: '',
    eventEnvelope: '',
  }
}
