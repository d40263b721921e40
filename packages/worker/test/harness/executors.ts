import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { collectArtifact, openArtifactStore } from '@scanfarm/artifacts'
import type { ArtifactStore, NewScope, Refusal, RunDetail } from '@scanfarm/contracts'
import { targetSpace } from '@scanfarm/functions'
import type { Step, Workflow } from '@scanfarm/language'
import { silentLogger } from '@scanfarm/platform'
import { createHostRunners } from '@scanfarm/runners'
import type { JobDraft } from '@scanfarm/store'
import { Executor } from '../../src/slots/executor.ts'
import type { ExecutorOptions } from '../../src/slots/options.ts'
import { createPolledSource } from '../../src/slots/run-sources.ts'
import { freshName, jobDraft, openRuns, submitJob, type Runs } from './runs.ts'

/** A real database, a real artifact store and real processes for executors under test. */
export interface Harness extends Runs, AsyncDisposable {
  readonly artifacts: ArtifactStore
  /** Started; takes local runs. Disposed with the harness. */
  executor(changes?: Partial<ExecutorOptions> & { slots?: number; leaseMs?: number }): Executor
  /** Queues a local job with a run for each target; resolves to the ids of the runs in order. */
  submit(
    workflow: Step[] | Omit<Workflow, 'name'>,
    options?: { targets?: readonly string[]; job?: Partial<JobDraft> },
  ): Promise<number[]>
  /** Adds a scope; resolves to its number, for a job. */
  scopeNo(scope: Omit<NewScope, 'name'>): Promise<number>
  /** What the job of a run was refused. */
  refusals(runId: number): Promise<Refusal[]>
  /** Makes an empty file in the workspace of a target, for a command that waits for it. */
  makeFile(target: string, name: string): Promise<void>
  /** Cancels a run and waits for its end, so that no later test finds it in the queue. */
  cancelled(runId: number): Promise<RunDetail>
}

export async function openHarness(): Promise<Harness> {
  await using scope = new AsyncDisposableStack()
  const runs = await openRuns(scope)
  const { folder, store, runStore } = runs
  const artifacts = openArtifactStore({ kind: 'folder', folder: join(folder, 'store'), fsync: false })
  const runners = scope.use(createHostRunners())
  const executors = scope.adopt(new Set<Executor>(), async (all) => {
    await Promise.all([...all].map((executor) => executor[Symbol.asyncDispose]()))
  })
  const opened = scope.move()
  return {
    ...runs,
    artifacts,
    executor({ slots = 4, leaseMs = 30_000, ...changes } = {}) {
      const executor = new Executor({
        store: runStore,
        source: createPolledSource({
          claim: (id, max) => (changes.store ?? runStore).claimLocal(id, max),
          pollMs: 20,
        }),
        artifacts,
        collect: collectArtifact,
        runners,
        intro: introduction(slots, leaseMs),
        folder: join(folder, 'work'),
        log: silentLogger,
        ...changes,
      })
      executors.add(executor)
      executor.start()
      return executor
    },
    async submit(workflow, { targets = ['example.test'], job = {} } = {}) {
      const root = Array.isArray(workflow) ? { kind: 'module' as const, steps: workflow } : workflow
      const rows = targets.map((target) => ({ target, workspace: targetSpace(target) }))
      return await submitJob(store, jobDraft(root, job), rows)
    },
    async scopeNo(scope) {
      const name = `s${freshName()}`
      await store.scopes.add({ name, ...scope }, 'test')
      return (await store.scopes.book(undefined))?.scopes.find((one) => one.name === name)?.id ?? 0
    },
    async refusals(runId) {
      const { run_group_id: job } = await runs.run(runId)
      return (await store.scopes.refusals(job, { offset: 0, limit: 100 }))?.data ?? []
    },
    makeFile: (target, name) => writeFile(join(folder, 'work/workspaces', target, name), ''),
    async cancelled(runId) {
      await store.runs.requestCancel(String(runId))
      return runs.ended(runId)
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

export const introduction = (slots: number, leaseMs: number): ExecutorOptions['intro'] => ({
  name: 'under-test',
  hostname: 'under-test',
  pid: process.pid,
  version: '1.0.0',
  kind: 'server',
  slots,
  capabilities: [],
  leaseMs,
})
