import { createHash } from 'node:crypto'
import type { CloudInfra, RunDetail } from '@scanfarm/contracts'
import { silentLogger, type Loops } from '@scanfarm/platform'
import type { CloudBudget, CloudStore, InfraDraft, JobDraft, Store } from '@scanfarm/store'
import { draft, testDatabase, type TestDatabase } from '@scanfarm/store/testing'
import { until } from '@scanfarm/testing'
import { reconcileNext, type ReconcileNextDeps } from '../../src/provisioning/reconcile-next.ts'
import { PROVISIONING_DEFAULTS, type ProvisioningSettings } from '../../src/provisioning/settings.ts'
import { startProvisioning } from '../../src/provisioning/start-provisioning.ts'
import { providersFrom, type CloudProviders } from '../../src/open-providers.ts'
import { openFakeCloud, type FakeCloud } from '../fake-cloud.ts'

export const FARM = 'the-farm'

/** Short intervals. */
export const QUICK: ProvisioningSettings = {
  ...PROVISIONING_DEFAULTS,
  reconcileSeconds: 0.05,
  busyReconcileSeconds: 0.05,
  reaperSeconds: 3_600,
  listLagSeconds: 0.3,
  sshTimeoutMs: 20_000,
  leaseMs: 60_000,
  pollMs: 50,
}

export interface TestCluster extends AsyncDisposable {
  readonly db: TestDatabase
  readonly store: Store
  readonly cloud: FakeCloud
  readonly providers: CloudProviders
  readonly settings: ProvisioningSettings
  request(changes?: Partial<InfraDraft>): Promise<CloudInfra>
  /** Submits a cloud job with one run for each target. */
  submit(
    targets: number,
    infra: Partial<InfraDraft> | { reuse: string },
    steps?: readonly unknown[],
  ): Promise<{ infraId: string; runIds: number[] }>
  loops(settings?: Partial<ProvisioningSettings>, store?: CloudStore): Loops
  reconcile(changes?: Partial<ReconcileNextDeps>): Promise<boolean>
  infra(infraId: string): Promise<CloudInfra>
  untilInfra(infraId: string, what: (infra: CloudInfra) => boolean): Promise<CloudInfra>
  run(runId: number): Promise<RunDetail>
  untilRun(runId: number, what: (run: RunDetail) => boolean): Promise<RunDetail>
}

/** A real database and a fake cloud. */
export async function openTestCluster(): Promise<TestCluster> {
  await using scope = new AsyncDisposableStack()
  const db = scope.use(await testDatabase())
  const cloud = scope.adopt(await openFakeCloud(), (opened) => opened.close())
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
      if (!('job' in answer)) throw new Error('the response of an earlier request came instead of a job')
      const { data } = await store.runs.list({ jobId: answer.job.jobId }, { offset: 0, limit: 1_000 })
      return { infraId: answer.job.infra?.infraId ?? '', runIds: data.map(({ id }) => id).reverse() }
    },
    loops: (changes = {}, own = store.cloud) =>
      startProvisioning({ ...common, store: own, settings: { ...settings, ...changes } }),
    reconcile: (changes = {}) =>
      reconcileNext({ ...common, owner: 'test', signal: new AbortController().signal, ...changes }),
    infra,
    untilInfra: (infraId, what) => until(() => infra(infraId), what),
    run,
    untilRun: (runId, what) => until(() => run(runId), what),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

export const statuses = ({ details }: CloudInfra): string[] => details.map(({ status }) => status)
export const isReady = ({ status }: CloudInfra): boolean => status === 'ready'
/** The infrastructure and all its machines have ended. */
export const isEnded = ({ status, details }: CloudInfra): boolean =>
  (status === 'destroyed' || status === 'failed') &&
  details.every((one) => one.status === 'destroyed' || one.status === 'failed')

/** Removes machines and faults for the next test. */
export async function clearAway(cluster: TestCluster): Promise<void> {
  const { cloud, store } = cluster
  cloud.faults = {}
  cloud.showAll()
  await using _loops = cluster.loops()
  const page = await store.cloud.list({}, { offset: 0, limit: 100 })
  for (const infra of page.data.filter((one) => !isEnded(one))) {
    await store.cloud.drain(infra.infra_id, 'the test is over')
    await cluster.untilInfra(infra.infra_id, isEnded)
  }
  for (const name of cloud.names) await cloud.vanish(name)
  cloud.created.length = 0
  cloud.createCalls = 0
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
  return draft({
    workflowName: 'under-test',
    workflowKind: 'module',
    workflow: { hash: createHash('sha256').update(json).digest('hex'), json },
    params: {},
    runMode: 'cloud',
    runnerGiven: true,
  })
}
