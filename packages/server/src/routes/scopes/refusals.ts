import { closed, page, Refusal } from '@scanfarm/contracts'
import { route } from '../../http/route.ts'
import { pageQuery } from '../../http/paging.ts'
import { found } from '../../http/refusal.ts'

const { cursor: _, ...offsets } = pageQuery

const refusals = (path: 'refusals' | 'left-out', summary: string, description: string) =>
  route(
    {
      endpoint: `GET /jobs/{job_id}/${path}`,
      summary,
      description,
      role: 'viewer',
      query: closed(offsets),
      responses: { 200: page(Refusal) },
    },
    async ({ store }, { params: { job_id: job }, page }) =>
      found('job', job, await store.scopes.refusals(job, page, path === 'left-out')),
  )

export const listJobRefusals = refusals(
  'refusals',
  'List the targets of a job that were not scanned because a scope or the never-scan list forbids them',
  'Oldest first. The total also counts those that are not listed: the first 10,000 of a request are, for 90 days.',
)

export const listJobLeftOut = refusals(
  'left-out',
  'List the targets of a job that mode delta left out, with the run since which nothing changed',
  'The total also counts those that are not listed: the first 10,000 are, for 90 days.',
)
