import {
  UnknownWorkerError,
  type ClaimedRun,
  type HeartbeatReply,
  type ImportSummary,
  type LimitShare,
  type LimitSpan,
  type LoopBatch,
  type RecordRow,
  type ReportFacts,
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
  /** The first parameter of every function is the secret. */
  const call = async <T>(text: string, values: readonly unknown[], within = persistence): Promise<T> =>
    persist(async () => {
      const { rows } = await pool.query<{ answer: T }>(text, [secret, ...values])
      const [row] = rows
      if (!row) throw new Error(`no answer from ${text}`)
      return row.answer
    }, within)

  const claimBatchers = new Map<string, (items: readonly ClaimItem[]) => Promise<ClaimedRun[]>>()
  const claimBatcher = (workerId: string) => {
    const batcher =
      claimBatchers.get(workerId) ??
      groupCommit<ClaimItem, ClaimedRun>({
        send: async (tickets) => {
          const text = 'select worker.claim($1, $2, $3::bigint[], $4::int[]) as answer'
          const [runIds, epochs] = [tickets.map(({ runId }) => runId), tickets.map(({ epoch }) => epoch)]
          const runs = await call<ClaimedRun[] | null>(text, [workerId, runIds, epochs])
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
    send: (runs) =>
      call('select worker.record($1, $2::jsonb) as answer', [jsonArray(runs.map(({ update }) => update))]),
    ...WRITES,
  })

  const finishBatched = groupCommit<Ended, RunKey>({
    send: (runs) =>
      call('select worker.finish($1, $2::jsonb, $3::jsonb) as answer', [
        jsonArray(runs.map(({ update }) => update)),
        jsonArray(runs.map(({ end }) => end)),
      ]),
    ...WRITES,
  })

  const limitsBatched = groupCommit<Ask, RunKey & { readonly share: LimitShare }>({
    send: (asks) => call('select worker.take_limits($1, $2::jsonb) as answer', [storableJson(asks)]),
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
        if (until === undefined) await call('select worker.hand_back($1, $2::jsonb) as answer', [json])
        else if (until === 'share')
          await call('select worker.wait_for_limits($1, $2::jsonb) as answer', [json])
        else await call('select worker.wait_until($1, $2::jsonb, $3) as answer', [json, until])
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
      await call('select worker.defer_run($1, $2, $3, $4, $5) as answer', [
        workerId,
        runId,
        epoch,
        reasonOf(error),
      ])
      return []
    }
  }

  const claimLocal = async (workerId: string, limit: number): Promise<ClaimedRun[]> => {
    try {
      return await call('select claim_local($1, $2, $3) as answer', [workerId, limit])
    } catch (error) {
      if (!isStatementTimeout(error)) throw error
      if (limit > 1) return await claimLocal(workerId, 1)
      await call('select defer_local_run($1, $2, $3) as answer', [workerId, reasonOf(error)])
      return []
    }
  }

  const inChunks = async <I, O>(
    items: readonly I[],
    send: (items: readonly I[]) => Promise<O[]>,
  ): Promise<O[]> => (await Promise.all(chunks(items).map(send))).flat()

  return {
    join: ({ workerId, leaseMs, drainMs, enforcementGap, ...worker }) =>
      call(`select ${worker.kind === 'server' ? 'join_farm' : 'worker.join'}($1, $2::jsonb) as answer`, [
        storableJson({
          ...worker,
          id: workerId,
          lease_ms: leaseMs,
          drain_ms: drainMs,
          enforcement_gap: enforcementGap,
        }),
      ]),
    offer: (workerId, capabilities) =>
      call('select worker.offer($1, $2, $3::text[]) as answer', [workerId, capabilities]),
    reportTools: (workerId, tools) =>
      call('select worker.report_tools($1, $2, $3::jsonb) as answer', [workerId, storableJson(tools)]),
    heartbeat: (workerId, busy, draining) =>
      call<HeartbeatReply>('select worker.heartbeat($1, $2, $3, $4) as answer', [
        workerId,
        busy,
        draining ?? null,
      ]),
    claim: (workerId, tickets) => {
      const once = [...new Map(tickets.map((ticket) => [ticket.runId, { ...ticket, workerId }])).values()]
      return claim(workerId, once)
    },
    claimLocal,
    claimCloud: (workerId, limit) => call('select claim_cloud($1, $2, $3) as answer', [workerId, limit]),
    boundary: async ({ runId, attempt }) => {
      const found = await call<Awaited<ReturnType<RunStore['boundary']>> | null>(
        'select worker.boundary($1, $2, $3) as answer',
        [runId, attempt],
      )
      if (found === null) throw new Error('the run belongs to another worker')
      return found
    },
    takeLimits: async ({ runId, attempt }, spans) => {
      const [found] = await limitsBatched([{ runId, attempt, spans }])
      if (found === undefined) throw new Error('the run belongs to another worker')
      return found.share
    },
    spread: async ({ runId, attempt }, { key, step, state, count, size, workers }) => {
      const found = await call<LoopBatch[] | null>(
        'select worker.spread($1, $2, $3, $4, $5, $6, $7, $8, $9) as answer',
        [runId, attempt, storable(key), state, count, size ?? null, workers ?? null, step],
      )
      if (found === null) throw new Error('the run belongs to another worker')
      return found
    },
    workflow: async (hash) => {
      const json = await call<string | null>('select worker.workflow($1, $2) as answer', [hash])
      if (json === null) throw new Error(`no workflow is pinned under the hash ${hash}`)
      return json
    },
    record: async (updates) => {
      const lost: RunKey[] = []
      for (const round of rounds(updates)) lost.push(...(await inChunks(round.map(written), recordBatched)))
      return [...new Map(lost.map((key) => [keyText(key), key])).values()]
    },
    finish: (ends) => inChunks((rounds(ends)[0] ?? []).map(endedOf), finishBatched),
    importRecords: async ({ runId, attempt }, found) =>
      (await call<ImportSummary | null>(
        `select worker.import_records($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10::text[], $11::jsonb, $12::uuid, $13,
           $14::text[], $15::text[], $16::jsonb, $17) as answer`,
        [
          runId,
          attempt,
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
        ],
      )) ?? undefined,
    knownFolder: async ({ runId, attempt }, workspace, findings) =>
      (await call<string | null>('select worker.known_folder($1, $2, $3, $4, $5::jsonb) as answer', [
        runId,
        attempt,
        storable(workspace),
        identitiesOf(findings),
      ])) ?? undefined,
    readRecords: async ({ runId, attempt }, { kind, workspace, filter, limit }) =>
      (await call<RecordRow[] | null>('select worker.records($1, $2, $3, $4, $5, $6::jsonb, $7) as answer', [
        runId,
        attempt,
        kind,
        storable(workspace),
        storableJson(filter),
        limit,
      ])) ?? undefined,
    readRuns: async ({ runId, attempt }, { workspace, runUuid, limit }) =>
      (await call<RecordRow[] | null>('select worker.runs_of($1, $2, $3, $4, $5, $6) as answer', [
        runId,
        attempt,
        storable(workspace),
        storable(runUuid),
        limit,
      ])) ?? undefined,
    readReport: async ({ runId, attempt }) =>
      (await call<ReportFacts | null>('select worker.report($1, $2, $3) as answer', [runId, attempt])) ??
      undefined,
    addToCounter: async ({ runId, attempt }, { workspace, name, add }) =>
      (await call<number | null>(
        'select worker.add_to_counter($1, $2, $3, $4, $5, $6) as answer',
        [runId, attempt, storable(workspace), storable(name), add === 'reset' ? null : add],
        { ...persistence, outageMs: 0 },
      )) ?? undefined,
    handBack: async (keys, until) => {
      const back = keys.map((key) => ({ ...key, until: until instanceof Date ? until.toISOString() : until }))
      await inChunks(back, handBackBatched)
    },
    liveAttempts: (runUuids) => call('select worker.live_attempts($1, $2::uuid[]) as answer', [runUuids]),
    removableWorkspaces: (folders, days) =>
      call('select worker.removable_workspaces($1, $2::text[], $3::boolean[], $4) as answer', [
        folders.map(({ workspace }) => workspace),
        folders.map(({ isOld }) => isOld),
        days,
      ]),
    strayKeys: (keys) =>
      call('select worker.stray_keys($1, $2::uuid[], $3::int[], $4::text[]) as answer', [
        keys.map(({ runUuid }) => runUuid),
        keys.map(({ attempt }) => attempt),
        keys.map(({ key }) => key),
      ]),
    leave: (workerId) =>
      call('select worker.leave($1, $2) as answer', [workerId], {
        ...persistence,
        outageMs: Math.min(LEAVE_OUTAGE_MS, persistence.outageMs),
      }),
  }
}
