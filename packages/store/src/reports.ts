import type { ReportFacts } from '@scanfarm/contracts'
import type { Kysely } from 'kysely'
import { jobNoOf } from './jobs/job-no.ts'
import type { Tables } from './tables.ts'
import { firstValue } from './rows.ts'
import { canBeStored } from './text.ts'

export const makeReports = (db: Kysely<Tables>) => ({
  /** The newest ended job with a run in the workspace. */
  lastJob: async (workspace: string): Promise<string | undefined> => {
    if (!canBeStored(workspace)) return undefined
    return await firstValue<string | undefined>(db, undefined)`
      select j.job_id from runs r join jobs j on j.id = r.job_no
      where r.workspace = ${workspace} and j.final_counts is not null order by r.id desc limit 1
    `
  },
  /** About a job and its workspaces, or about its part in one workspace. Undefined: there is no such job. */
  read: async (jobId: string, workspace?: string): Promise<ReportFacts | undefined> => {
    const jobNo = await jobNoOf(db, jobId)
    if (jobNo === undefined) return undefined
    return await firstValue<ReportFacts | undefined>(db, undefined)`
      select report_facts(${jobNo}, ${workspace ?? null}) as facts
    `
  },
})
