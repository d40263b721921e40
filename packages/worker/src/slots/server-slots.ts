import { CLOUD_SLOTS, type RunnerProvider } from '@scanfarm/contracts'
import type { Runners } from '@scanfarm/runners'
import { logMachine, openMachine, openSlots, openSweep, type SlotHost } from './open-slots.ts'
import type { RunSettings, WorkerConfig } from '../settings/settings.ts'
import { ToolVersions } from '../tools/tool-versions.ts'
import { toolSearch } from '../tools/tool-search.ts'
import { createPolledSource } from './run-sources.ts'

/** New runs come with a notification; polling finds those whose notification was lost. */
const POLL_MS = 1_000

export interface ServerSlotHost extends SlotHost {
  readonly config: RunSettings &
    Pick<WorkerConfig, 'local'> & {
      readonly cloud: { readonly enabled: boolean; readonly slots: number }
    }
  /** There may be new runs. */
  onNotify(listener: () => void): Disposable
  onCancel(listener: (runIds: readonly number[]) => void): Disposable
  /** Execute commands on machines of a cloud, which are reached by the runners of this machine. */
  openCloudRunners(own: Runners): RunnerProvider & AsyncDisposable
}

/** The slots of a server for local and for cloud runs. Disposing drains both at the same time. */
export async function startServerSlots(host: ServerSlotHost): Promise<AsyncDisposable> {
  await using scope = new AsyncDisposableStack()
  const { local, cloud } = host.config
  const started: AsyncDisposable[] = []
  if (local.slots > 0) started.push(scope.use(await start(host, 'local')))
  if (cloud.enabled && cloud.slots > 0) started.push(scope.use(await start(host, 'cloud')))
  scope.move()
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map((slots) => slots[Symbol.asyncDispose]()))
    },
  }
}

/** Disposing drains: no more runs, `worker.drain_ms` for those under way, the rest is handed back. */
async function start(host: ServerSlotHost, kind: 'local' | 'cloud'): Promise<AsyncDisposable> {
  const { config, store } = host
  const isCloud = kind === 'cloud'
  await using scope = new AsyncDisposableStack()
  if (!isCloud) logMachine(host)
  const machine = await openMachine(host, scope, !isCloud)
  const source = createPolledSource({
    claim: (workerId, max) => (isCloud ? store.claimCloud(workerId, max) : store.claimLocal(workerId, max)),
    pollMs: POLL_MS,
  })
  // Commands of cloud runs execute on their machines.
  const toolVersions = isCloud
    ? undefined
    : new ToolVersions({ search: toolSearch(config, machine), log: host.log })
  const executor = openSlots(host, {
    kind,
    ...(toolVersions && { toolVersions }),
    name: isCloud ? `${config.worker.name} (cloud)` : config.worker.name,
    slots: config[kind].slots,
    // The claims of a server ignore what runs need: no worker may take these runs.
    capabilities: isCloud ? [CLOUD_SLOTS] : [],
    source,
    machine,
    ...(isCloud && { runners: scope.use(host.openCloudRunners(machine.runners)) }),
  })
  // Local and cloud slots share their folders: the local slots sweep them where there are any.
  const runners = isCloud ? { sweepContainers: async () => 0 } : machine.runners
  if (!isCloud || config.local.slots === 0) scope.use(openSweep(host, executor, runners)).start()
  scope.use(
    host.onNotify(() => {
      source.notify()
      executor.checkPause()
    }),
  )
  scope.use(host.onCancel((runIds) => executor.checkCancels(runIds)))
  const versions = toolVersions?.watch(
    () => undefined,
    (found) => executor.report(found),
  )
  if (versions) scope.use(versions).start()
  scope.defer(() => executor.drain(config.worker.drainMs))
  executor.start()
  return scope.move()
}
