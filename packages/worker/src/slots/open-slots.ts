import { hostname } from 'node:os'
import { collectArtifact, openObjectStorage } from '@scanfarm/artifacts'
import type { ArtifactStore, RunnerProvider, RunStore } from '@scanfarm/contracts'
import { Loop, type Logger, type Registry } from '@scanfarm/platform'
import type { Runners } from '@scanfarm/runners'
import packageJson from '../../package.json' with { type: 'json' }
import { openFirewall, type Enforcement } from '../network/open-firewall.ts'
import type { ToolVersions } from '../tools/tool-versions.ts'
import { createSweep, SWEEP_EVERY_MS } from '../workspaces/sweep.ts'
import { sharedOptions, logFolders, openRunners } from '../settings/executor-options.ts'
import type { RunSettings } from '../settings/settings.ts'
import { logIsolation } from '../users/isolation.ts'
import { Executor } from './executor.ts'
import { countRefusals, createSlotMetrics, type SlotKind } from './metrics.ts'
import type { RunSource } from './run-sources.ts'

/** What the program around the slots provides. */
export interface SlotHost {
  readonly config: RunSettings
  readonly farmId: string
  readonly store: RunStore
  readonly artifacts: ArtifactStore
  readonly log: Logger
  readonly metrics: Registry
}

/** The runners of this machine, and what its slots need to know of it. */
export interface Machine {
  readonly runners: Runners
  readonly enforcement: Enforcement
  readonly executor: ReturnType<typeof sharedOptions>
}

/** Closes with `scope`. `executesHere`: commands of runs execute on this machine. */
export const openMachine = async (
  { config, farmId, log }: Pick<SlotHost, 'config' | 'farmId' | 'log'>,
  scope: AsyncDisposableStack,
  executesHere = true,
): Promise<Machine> => {
  const enforcement = executesHere
    ? await openFirewall(config, log, scope)
    : { firewall: undefined, gap: 'commands run on other machines' }
  const bucket = config.storage.s3?.reveal()
  const storage = bucket === undefined ? undefined : scope.use(openObjectStorage(bucket))
  const runners = scope.use(openRunners(config, farmId))
  return { runners, enforcement, executor: sharedOptions(config, storage, runners) }
}

/** For the log of a program that is about to execute commands on this machine. */
export const logMachine = ({ config, log }: Pick<SlotHost, 'config' | 'log'>): void => {
  logIsolation(config, log)
  logFolders(config, log)
}

export interface SlotsOptions {
  readonly kind: SlotKind
  /** As shown in lists. */
  readonly name: string
  readonly slots: number
  readonly capabilities: readonly string[]
  readonly source: RunSource
  readonly machine: Machine
  /** Where commands execute, unless on this machine. */
  readonly runners?: RunnerProvider
  readonly toolVersions?: ToolVersions
}

/** Slots that are not started. */
export function openSlots(
  { config, store, artifacts, log, metrics }: SlotHost,
  { kind, name, slots, capabilities, source, machine, runners = machine.runners, toolVersions }: SlotsOptions,
): Executor {
  const executor: Executor = new Executor({
    ...machine.executor,
    store,
    source,
    artifacts,
    collect: collectArtifact,
    toolVersions,
    runners,
    enforcement: machine.enforcement,
    countsThreads: kind !== 'cloud',
    intro: {
      name,
      hostname: hostname(),
      pid: process.pid,
      version: packageJson.version,
      kind: kind === 'worker' ? 'worker' : 'server',
      slots,
      leaseMs: config.worker.leaseMs,
      capabilities,
      enforcementGap: machine.enforcement.gap ?? '',
    },
    log,
    onRunEnded: createSlotMetrics(metrics, kind, () => executor.status),
    onRefused: countRefusals(metrics),
  })
  return executor
}

/** Removes what crashed runs left on this machine, and workspaces out of retention. */
export const openSweep = (
  { store, config, log }: SlotHost,
  executor: Executor,
  runners: Pick<Runners, 'sweepContainers'>,
): Loop =>
  new Loop({
    name: 'sweep',
    intervalMs: SWEEP_EVERY_MS,
    log,
    turn: createSweep({ store, runners, executor, retention: config.retention, log }),
  })
