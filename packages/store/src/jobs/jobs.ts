import type { Kysely } from 'kysely'
import type { Tables } from '../tables.ts'
import type { Totals } from '../totals.ts'
import { makeJobCancels } from './cancel-job.ts'
import { makeJobChanges } from './change-job.ts'
import { JobCounter } from './job-counts.ts'
import { makeJobList } from './job-list.ts'
import { makeJobProgress } from './job-progress.ts'
import { makeJobReports } from './job-report.ts'
import { makeJobStrips } from './job-strip.ts'
import { makeSubmits } from './submit-job.ts'

/** `upkeep`: the same database with a longer statement timeout. */
export const makeJobs = (db: Kysely<Tables>, upkeep: Kysely<Tables>, totals: Totals) => ({
  ...makeSubmits(db, upkeep),
  ...makeJobList(db, upkeep, new JobCounter(db, totals)),
  ...makeJobReports(db),
  ...makeJobStrips(db),
  ...makeJobProgress(db, totals),
  ...makeJobChanges(db, upkeep),
  ...makeJobCancels(db, upkeep),
})
