import { factsOf } from '@scanfarm/findings'
import type { Store } from '@scanfarm/store'
import { reportPage, type Advice } from './report-page.ts'

/** Most findings of each list of changes. */
const CHANGES = 100

/** The page about a job, or about its part of a workspace; undefined if there is no such job. */
export const makeReport = async (
  store: Store,
  jobId: string,
  title: string,
  workspace?: string,
): Promise<string | undefined> => {
  const [job, facts, changes] = await Promise.all([
    store.jobs.summary(jobId),
    store.reports.read(jobId, workspace),
    store.nights.changes(jobId, undefined, CHANGES, workspace),
  ])
  if (job === undefined || facts === undefined || changes === undefined) return undefined
  const known = await store.vulnerabilities.all(facts.issues.map(({ id }) => id))
  const advice = known.map((finding): [number, Advice] => {
    const { remediation, references } = factsOf(finding)
    return [finding.id, { description: finding.vuln_desc, remediation, references }]
  })
  const madeAt = new Date().toISOString()
  return reportPage({ title, job, facts, changes, advice: new Map(advice), madeAt })
}
