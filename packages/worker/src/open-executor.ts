import { hostname } from 'node:os'
import { artifactOptions, collectArtifact, openArtifactStore, openObjectStorage } from '@scanfarm/artifacts'
import { canServe, needsOf } from '@scanfarm/contracts'
import {
  createSweep,
  Executor,
  executorSettings,
  logFolders,
  logIsolation,
  openRunners,
  pathState,
  programsOn,
  SWEEP_EVERY_MS,
  usableTools,
  workFolderOf,
  type Introduction,
  type ToolPlaces,
} from '@scanfarm/executor'
import { errorText, Loop, type Config, type Logger, type Registry } from '@scanfarm/platform'
import { detectCapabilities, engineAddress } from '@scanfarm/runners'
import type { Farm } from './open-farm.ts'
import { createQueueSource } from './queue-source.ts'
import { VERSION } from './version.ts'
import { createWorkerMetrics } from './worker-metrics.ts'

/** The executor of a worker and what tidies up after crashed ones, not started; what it works with closes with `scope`. */
export async function openExecutor(
  config: Config,
  log: Logger,
  { farmId, store, queue }: Farm,
  scope: AsyncDisposableStack,
): Promise<{ executor: Executor; loops: readonly Loop[]; metrics: Registry }> {
  const artifacts = scope.use(openArtifactStore(artifactOptions(config.artifacts)))
  await artifacts.check()
  const storage = scope.use(openObjectStorage(config.storage.s3))
  logIsolation(config, log)
  logFolders(config, log)
  const runners = scope.use(openRunners(config, farmId))
  const settings = executorSettings(config, storage, runners)
  const path = `${config.folders.binaries}:${config.runner.path}`
  const tools = { runners, users: settings.users, workFolder: workFolderOf(config), path }
  const state = await pathState(path)
  const first = await capabilitiesOf(config, tools).catch((error: unknown) => {
    log.warn('tools cannot be looked for yet; none is offered', { reason: errorText(error) })
    return undefined
  })
  let capabilities = first ?? []
  const intro = introduce(config, capabilities)
  const consumer = scope.use(
    queue.consumer({ serves: (requirementClass) => canServe(capabilities, needsOf(requirementClass)) }),
  )
  const metrics = createWorkerMetrics(() => executor.status)
  const executor = new Executor({
    ...settings,
    store,
    source: createQueueSource({ store, consumer }),
    artifacts,
    collect: collectArtifact,
    runners,
    intro,
    log,
    onRunEnded: metrics.runEnded,
  })
  const sweeper = scope.use(
    new Loop({
      name: 'sweep',
      intervalMs: SWEEP_EVERY_MS,
      log,
      turn: createSweep({ store, runners, executor, retention: config.retention, log }),
    }),
  )
  const watcher = watchTools(tools, first && state, log, async (signal) => {
    const found = await capabilitiesOf(config, tools, signal)
    if (signal.aborted || found.join(' ') === capabilities.join(' ')) return
    log.info('what commands here can use has changed', difference(capabilities, found))
    capabilities = found
    executor.offer(found)
  })
  return { executor, loops: [sweeper, scope.use(watcher)], metrics: metrics.registry }
}

const TOOLS_EVERY_MS = 5_000
/** Also without a change in the folders: rights change, and so does the engine. */
const LOOK_EVERY_MS = 60_000

/** Looks again soon after something has changed in the folders of tools since `lastState`, and now and then. */
const watchTools = (
  { path }: ToolPlaces,
  lastState: string | undefined,
  log: Logger,
  look: (signal: AbortSignal) => Promise<void>,
): Loop => {
  let seen = lastState
  let lookedAt = performance.now()
  return new Loop({
    name: 'tools',
    intervalMs: TOOLS_EVERY_MS,
    log,
    async turn(signal) {
      const state = await pathState(path)
      if (state === seen && performance.now() - lookedAt < LOOK_EVERY_MS) return
      await look(signal)
      seen = state
      lookedAt = performance.now()
    },
  })
}

const difference = (before: readonly string[], now: readonly string[]) => ({
  came: now.filter((word) => !before.includes(word)),
  went: before.filter((word) => !now.includes(word)),
})

const capabilitiesOf = async (
  { worker, runner }: Config,
  places: ToolPlaces,
  signal?: AbortSignal,
): Promise<string[]> =>
  await detectCapabilities({
    tools: await usableTools(places, await programsOn(places.path), signal),
    docker: engineAddress(runner),
    labels: worker.labels.map((label) => `label:${label}`),
  })

const introduce = ({ worker }: Config, capabilities: readonly string[]): Introduction => ({
  name: worker.name,
  hostname: hostname(),
  pid: process.pid,
  version: VERSION,
  kind: 'worker',
  slots: worker.slots,
  leaseMs: worker.leaseMs,
  capabilities,
})
