import {
  UnknownWorkerError,
  type ClaimedRun,
  type HeartbeatReply,
  type LimitShare,
  type LimitSpan,
  type RunEnd,
  type RunKey,
  type RunStore,
  type RunUpdate,
  type Ticket,
} from '@scanfarm/contracts'
import type pg from 'pg'
import { isStatementTimeout } from '../database/connection.ts'
import { persist, type Persistence } from '../database/retry.ts'
import { identitiesOf, itemsOf } from '../findings/import-item.ts'
import { storable, storableJson } from '../text.ts'
import { groupCommit } from './group-commit.ts'

/** Most runs in one statement. */
const MAX_BATCH = 200
/** Most text in one statement: Postgres makes several copies of it, and rejects more than 256 MiB. */
const MAX_BATCH_CHARS = 16 * 1024 * 1024
/** Most hosts in one statement, for runs with many of them. */
const MAX_SPANS = 5_000
/** Short: if a worker cannot leave, the reaper takes back its runs. */
const LEAVE_OUTAGE_MS = 3_000

interface ClaimItem extends Ticket {
  readonly workerId: string
}
/** An update of a run, serialized once. */
interface Written extends RunKey {
  readonly update: string
}
interface Ended extends Written {
  readonly end: string
}
interface Back extends RunKey {
  readonly until: string | undefined
}
/** For the shares of limits. */
interface Ask extends RunKey {
  readonly spans: readonly LimitSpan[]
}

const ours = <T>(found: T | undefined): T => {
  if (found === undefined) throw new Error('the run belongs to another worker')
  return found
}

const keyText = (key: RunKey): string => `${key.runId}:${key.attempt}`

/** Splits items into rounds with unique keys, in order. */
const rounds = <T extends RunKey>(items: readonly T[]): T[][] => {
  const made: Map<string, T>[] = []
  for (const item of items) {
    const key = keyText(item)
    const round = made.find((one) => !one.has(key)) ?? made[made.push(new Map()) - 1]
    round?.set(key, item)
  }
  return made.map((round) => [...round.values()])
}

const chunks = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / MAX_BATCH) }, (_, n) =>
    items.slice(n * MAX_BATCH, (n + 1) * MAX_BATCH),
  )

const reasonOf = (error: unknown): string => storable(Error.isError(error) ? error.message : String(error))

/** Keeps the last update of each step: a statement can write a row only once. */
const compact = (update: RunUpdate): RunUpdate =>
  update.steps === undefined
    ? update
    : { ...update, steps: [...new Map(update.steps.map((step) => [step.seq, step])).values()] }

const jsonArray = (texts: readonly string[]): string => `[${texts.join(',')}]`

const written = (update: RunUpdate): Written => ({
  runId: update.runId,
  attempt: update.attempt,
  update: storableJson(compact(update)),
})

const endedOf = ({ last, ...end }: RunEnd & { last: RunUpdate }): Ended => ({
  ...written({ ...last, runId: end.runId, attempt: end.attempt }),
  end: storableJson(end),
})

const WRITES = {
  keyOfItem: keyText,
  keyOfResult: keyText,
  maxItems: MAX_BATCH,
  size: { of: ({ update }: Written) => update.length, most: MAX_BATCH_CHARS },
}

/**
 * The side of a process that executes runs. Workers only call functions of the schema `worker`. The process makes its
 * secret itself, so that a repeated `join` after a lost answer is the same call; its hash is stored.
 */
export function makeRunStore(pool: pg.Pool, persistence: Persistence, secret: string): RunStore {
  /** The answer of a function, whose first argument is the secret. */
  const call = async <T>(name: string, values: readonly unknown[], within = persistence): Promise<T> =>
    persist(async () => {
      const all = [secret, ...values]
      const places = all.map((_, index) => `$${index + 1}`)
      const { rows } = await pool.query<{ answer: T }>(`select ${name}(${places.join(', ')}) as answer`, all)
      const [row] = rows
      if (!row) throw new Error(`no answer from ${name}`)
      return row.answer
    }, within)
  /** The same of a function that is about a run of this worker. Undefined: the run belongs to another one. */
  const callFor = async <T>(
    { runId, attempt }: RunKey,
    name: string,
    values: readonly unknown[] = [],
    within = persistence,
  ): Promise<T | undefined> => (await call<T | null>(name, [runId, attempt, ...values], within)) ?? undefined

  const claimBatchers = new Map<string, (items: readonly ClaimItem[]) => Promise<ClaimedRun[]>>()
  const claimBatcher = (workerId: string) => {
    const batcher =
      claimBatchers.get(workerId) ??
      groupCommit<ClaimItem, ClaimedRun>({
        send: async (tickets) => {
          const [runIds, epochs] = [tickets.map(({ runId }) => runId), tickets.map(({ epoch }) => epoch)]
          const runs = await call<ClaimedRun[] | null>('worker.claim', [workerId, runIds, epochs])
          if (runs === null)
            throw new UnknownWorkerError('this worker is unknown to the farm or was declared lost')
          return runs
        },
        keyOfItem: (ticket) => String(ticket.runId),
        keyOfResult: (run) => String(run.runId),
        maxItems: MAX_BATCH,
      })
    claimBatchers.set(workerId, batcher)
    return batcher
  }

  const recordBatched = groupCommit<Written, RunKey>({
    send: (runs) => call('worker.record', [jsonArray(runs.map(({ update }) => update))]),
    ...WRITES,
  })

  const finishBatched = groupCommit<Ended, RunKey>({
    send: (runs) =>
      call('worker.finish', [
        jsonArray(runs.map(({ update }) => update)),
        jsonArray(runs.map(({ end }) => end)),
      ]),
    ...WRITES,
  })

  const limitsBatched = groupCommit<Ask, RunKey & { readonly share: LimitShare }>({
    send: (asks) => call('worker.take_limits', [storableJson(asks)]),
    keyOfItem: keyText,
    keyOfResult: keyText,
    maxItems: MAX_BATCH,
    size: { of: ({ spans }) => spans.length, most: MAX_SPANS },
    sharesTurn: true,
  })

  const handBackBatched = groupCommit<Back, RunKey>({
    send: async (runs) => {
      for (const [until, keys] of Map.groupBy(runs, (run) => run.until)) {
        const json = storableJson(keys)
        if (until === undefined) await call('worker.hand_back', [json])
        else if (until === 'share') await call('worker.wait_for_limits', [json])
        else await call('worker.wait_until', [json, until])
      }
      return []
    },
    keyOfItem: keyText,
    keyOfResult: keyText,
    maxItems: MAX_BATCH,
    sharesTurn: true,
  })

  /** A claim that exceeds the time limit is repeated with half of its runs; a single run is deferred. */
  const claim = async (workerId: string, tickets: readonly ClaimItem[]): Promise<ClaimedRun[]> => {
    try {
      return await inChunks(tickets, claimBatcher(workerId))
    } catch (error) {
      if (!isStatementTimeout(error)) throw error
      const half = Math.ceil(tickets.length / 2)
      if (half < tickets.length)
        return [
          ...(await claim(workerId, tickets.slice(0, half))),
          ...(await claim(workerId, tickets.slice(half))),
        ]
      const { runId = 0, epoch = 0 } = tickets[0] ?? {}
      await call('worker.defer_run', [workerId, runId, epoch, reasonOf(error)])
      return []
    }
  }

  const claimLocal = async (workerId: string, limit: number): Promise<ClaimedRun[]> => {
    try {
      return await call('claim_local', [workerId, limit])
    } catch (error) {
      if (!isStatementTimeout(error)) throw error
      if (limit > 1) return await claimLocal(workerId, 1)
      await call('defer_local_run', [workerId, reasonOf(error)])
      return []
    }
  }

  const inChunks = async <I, O>(
    items: readonly I[],
    send: (items: readonly I[]) => Promise<O[]>,
  ): Promise<O[]> => (await Promise.all(chunks(items).map(send))).flat()

  return {
    join: ({ workerId, leaseMs, drainMs, enforcementGap, ...worker }) =>
      call(worker.kind === 'server' ? 'join_farm' : 'worker.join', [
        storableJson({
          ...worker,
          id: workerId,
          lease_ms: leaseMs,
          drain_ms: drainMs,
          enforcement_gap: enforcementGap,
        }),
      ]),
    offer: (workerId, capabilities) => call('worker.offer', [workerId, capabilities]),
    reportTools: (workerId, tools) => call('worker.report_tools', [workerId, storableJson(tools)]),
    heartbeat: (workerId, busy, draining) =>
      call<HeartbeatReply>('worker.heartbeat', [workerId, busy, draining ?? null]),
    claim: (workerId, tickets) => {
      const once = [...new Map(tickets.map((ticket) => [ticket.runId, { ...ticket, workerId }])).values()]
      return claim(workerId, once)
    },
    claimLocal,
    claimCloud: (workerId, limit) => call('claim_cloud', [workerId, limit]),
    boundary: async (key) => ours(await callFor(key, 'worker.boundary')),
    takeLimits: async ({ runId, attempt }, spans) => {
      const [found] = await limitsBatched([{ runId, attempt, spans }])
      return ours(found).share
    },
    spread: async (run, { key, step, state, count, size, workers }) =>
      ours(
        await callFor(run, 'worker.spread', [
          storable(key),
          state,
          count,
          size ?? null,
          workers ?? null,
          step,
        ]),
      ),
    workflow: async (hash) => {
      const json = await call<string | null>('worker.workflow', [hash])
      if (json === null) throw new Error(`no workflow is pinned under the hash ${hash}`)
      return json
    },
    record: async (updates) => {
      const lost: RunKey[] = []
      for (const round of rounds(updates)) lost.push(...(await inChunks(round.map(written), recordBatched)))
      return [...new Map(lost.map((key) => [keyText(key), key])).values()]
    },
    finish: (ends) => inChunks((rounds(ends)[0] ?? []).map(endedOf), finishBatched),
    importRecords: (key, found) =>
      callFor(key, 'worker.import_records', [
        storable(found.step),
        found.records.kind,
        storable(found.workspace),
        storable(found.source),
        itemsOf(found.workspace, found.source, found.records).json(),
        found.errors,
        found.reached?.map(storable) ?? null,
        found.scope === undefined ? null : storableJson(found.scope),
        found.part?.of ?? null,
        found.part?.no ?? null,
        found.failed?.hosts.map(storable) ?? null,
        found.failed?.files.map(storable) ?? null,
        found.failed?.places === undefined ? null : storableJson(found.failed.places),
        found.namesUntested ?? false,
      ]),
    knownFolder: (key, workspace, findings) =>
      callFor(key, 'worker.known_folder', [storable(workspace), identitiesOf(findings)]),
    readRecords: (key, { kind, workspace, filter, limit }) =>
      callFor(key, 'worker.records', [kind, storable(workspace), storableJson(filter), limit]),
    readRuns: (key, { workspace, runUuid, limit }) =>
      callFor(key, 'worker.runs_of', [storable(workspace), storable(runUuid), limit]),
    readReport: (key) => callFor(key, 'worker.report'),
    addToCounter: (key, { workspace, name, add }) =>
      callFor(
        key,
        'worker.add_to_counter',
        [storable(workspace), storable(name), add === 'reset' ? null : add],
        { ...persistence, outageMs: 0 },
      ),
    handBack: async (keys, until) => {
      const back = keys.map((key) => ({ ...key, until: until instanceof Date ? until.toISOString() : until }))
      await inChunks(back, handBackBatched)
    },
    liveAttempts: (runUuids) => call('worker.live_attempts', [runUuids]),
    removableWorkspaces: (folders, days) =>
      call('worker.removable_workspaces', [
        folders.map(({ workspace }) => workspace),
        folders.map(({ isOld }) => isOld),
        days,
      ]),
    strayKeys: (keys) =>
      call('worker.stray_keys', [
        keys.map(({ runUuid }) => runUuid),
        keys.map(({ attempt }) => attempt),
        keys.map(({ key }) => key),
      ]),
    leave: (workerId) =>
      call('worker.leave', [workerId], {
        ...persistence,
        outageMs: Math.min(LEAVE_OUTAGE_MS, persistence.outageMs),
      }),
  }
}
