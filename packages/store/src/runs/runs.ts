import { randomBytes, randomUUID } from 'node:crypto'
import type { CloudFields, QueuePlace, RunDetail } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { makeRunCancels } from './cancel-run.ts'
import { cloudChoice, newInfraId, refusing, type CloudChoice } from '../cloud/requests.ts'
import { findRow, identify, identifyAll, type KnownRun } from './find-run.ts'
import { makeRunList } from './run-list.ts'
import { makeRunLogs } from './run-logs.ts'
import { makeRunParts } from './run-parts.ts'
import { makeRunAttempts } from './run-attempts.ts'
import { byRef, toRunDetail, type RunRef } from './run-rows.ts'
import { storableJson } from '../text.ts'
import { queuePlace } from './queue-place.ts'
import type { Totals } from '../totals.ts'
import { waitingReasons } from './waiting-reason.ts'
import type { Tables } from '../tables.ts'
import { allRows, firstRow } from '../rows.ts'

type Duplicate = { readonly originalRunUuid: string; readonly runUuid: string; readonly jobId: string }
type Started = { readonly started: boolean; readonly run: RunDetail }
type CloudOfRun = { readonly fields: CloudFields; readonly requirementClass: string }

export const makeRuns = (db: Kysely<Tables>, totals: Totals) => {
  const find = async (ref: RunRef): Promise<RunDetail | undefined> => {
    const row = await findRow(db, ref)
    return row && toRunDetail(row, (await waitingReasons(db, [row])).get(row.id) ?? '')
  }
  return {
    ...makeRunList(db, totals),
    ...makeRunAttempts(db),
    ...makeRunParts(db, totals),
    ...makeRunLogs(db),
    ...makeRunCancels(db),
    find,
    /** Null: the run is not queued. Undefined for an unknown run. */
    queuePlace: async (ref: RunRef): Promise<QueuePlace | null | undefined> => {
      const row = await findRow(db, ref)
      return row && (row.status === 'queued' ? await queuePlace(db, totals, row) : null)
    },
    /** The runs among `refs`, with their jobs. */
    identify: (refs: readonly RunRef[]): Promise<KnownRun[]> => identifyAll(db, refs),
    /** Copies a run into a new job with one pending run. Undefined for an unknown run. */
    async duplicate(ref: RunRef): Promise<Duplicate | undefined> {
      const run = await findRow(db, ref)
      if (!run) return undefined
      const copy = { runUuid: randomUUID(), jobId: randomBytes(8).toString('hex') }
      await sql`
        select submit_job(
          to_jsonb(j) || jsonb_build_object('job_id', ${copy.jobId}::text, 'starts', false, 'target_count', 1,
                                            'delta', null, 'left_out', 0, 'workflow_json', w.json),
          array[r.target], array[r.workspace], ${copy.runUuid}::uuid, false, null)
        from runs r join jobs j on j.id = r.job_no join pinned_workflows w on w.hash = j.workflow_hash
        where r.id = ${run.id}
      `.execute(db)
      return { originalRunUuid: run.run_uuid, ...copy }
    },
    /**
     * pending → queued. `started: false` if the run has another status. A cloud run uses the infrastructure of its job if
     * that accepts runs, otherwise the one in `cloud`.
     */
    async start(ref: RunRef, cloud?: CloudChoice): Promise<Started | undefined> {
      const known = await identify(db, ref)
      if (!known) return undefined
      const call =
        cloud === undefined
          ? sql`start_run(${known.id})`
          : sql`start_cloud_run(${known.id}, ${storableJson(cloudChoice(cloud, newInfraId()))}::jsonb)`
      const { rows } = await refusing(sql<{ started: boolean }>`select ${call} as started`.execute(db))
      const run = await find(String(known.id))
      return run && { started: rows[0]?.started ?? false, run }
    },
    /** The cloud fields of the request and the requirement class of a cloud run; undefined for other and unknown runs. */
    async cloudOf(ref: RunRef): Promise<CloudOfRun | undefined> {
      const condition = byRef(ref)
      if (!condition) return undefined
      return await firstRow(db)<CloudOfRun>`
        select coalesce(j.cloud, '{}') as fields, j.requirement_class as "requirementClass"
        from runs r join jobs j on j.id = r.job_no where ${condition} and r.run_mode || '' = 'cloud'
      `
    },
    /** The uuids of the runs of a retry, by the runs that it repeats. */
    async runsAgain(runIds: readonly number[], jobId: string): Promise<ReadonlyMap<number, string>> {
      const rows = await allRows(db)<{ of: number; uuid: string }>`
        select r.id as of, n.run_uuid as uuid from runs r
        join runs n on n.target = r.target and n.workspace = r.workspace
        where r.id = any(${runIds}::bigint[]) and n.job_no = (select id from jobs where job_id = ${jobId})
      `
      return new Map(rows.map(({ of, uuid }) => [of, uuid]))
    },
  }
}
