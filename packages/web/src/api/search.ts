import { queryOptions } from '@tanstack/react-query'
import { answer, api, ApiError } from './client.ts'

export interface Hit {
  readonly href: string
  readonly text: string
  readonly note: string
}

export interface HitGroup {
  readonly title: string
  readonly hits: readonly Hit[]
}

const MOST = 5
const MIN_TEXT = 2
const FRESH_MS = 5_000
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
const NUMBER = /^\d{1,15}$/

/** What a look-up finds: nothing if there is no such thing. */
const orNone = async (found: Promise<readonly Hit[]>): Promise<readonly Hit[]> => {
  try {
    return await found
  } catch (error) {
    if (error instanceof ApiError && [400, 403, 404].includes(error.status)) return []
    throw error
  }
}

const at = (path: string, id: string): string => `/${path}/${encodeURIComponent(id)}`

const findRun = async (id: string, signal: AbortSignal): Promise<Hit[]> => {
  const { data: run } = await answer(api.GET('/runs/{id}', { params: { path: { id } }, signal }))
  return [
    {
      href: at('runs', run.run_uuid),
      text: run.target || `Run ${run.id}`,
      note: `${run.workflow_name} · ${run.status}`,
    },
  ]
}

const findRuns = async (target: string, signal: AbortSignal): Promise<Hit[]> => {
  const query = { target, limit: MOST }
  const { data } = await answer(api.GET('/runs', { params: { query }, signal }))
  return data.map((run) => ({
    href: at('runs', run.run_uuid),
    text: run.target,
    note: `${run.workflow_name} · ${run.status} · run ${run.id}`,
  }))
}

const findJobs = async (search: string, signal: AbortSignal): Promise<Hit[]> => {
  // The API finds jobs by the beginning of their id.
  if (!/^[\da-f]{1,16}$/.test(search)) return []
  const { data } = await answer(api.GET('/jobs', { params: { query: { search, limit: MOST } }, signal }))
  return data.map((job) => ({
    href: at('jobs', job.job_id),
    text: job.job_id,
    note: `${job.workflow_name} · ${job.status}`,
  }))
}

const findWorkflows = async (search: string, signal: AbortSignal): Promise<Hit[]> => {
  const { data } = await answer(api.GET('/workflows', { params: { query: { search, limit: MOST } }, signal }))
  return data.map(({ name, kind, description }) => ({
    href: at('workflows', name),
    text: name,
    note: `${kind} · ${description}`,
  }))
}

const findFinding = async (id: string, signal: AbortSignal): Promise<Hit[]> => {
  const { data } = await answer(api.GET('/vulnerabilities/{id}', { params: { path: { id } }, signal }))
  return [findingHit(data)]
}

const findFindings = async (text: string, signal: AbortSignal): Promise<Hit[]> => {
  const query = { asset_value: text, limit: MOST }
  const { data } = await answer(api.GET('/vulnerabilities', { params: { query }, signal }))
  return data.map(findingHit)
}

const findingHit = (finding: {
  readonly id: number
  readonly vuln_title: string
  readonly vuln_info: string
  readonly severity: string
  readonly asset_value: string
}): Hit => ({
  href: at('findings', String(finding.id)),
  text: finding.vuln_title || finding.vuln_info,
  note: `${finding.severity} · ${finding.asset_value}`,
})

const findWorkers = async (text: string, signal: AbortSignal): Promise<Hit[]> => {
  const { data } = await answer(api.GET('/workers', { signal }))
  return data
    .filter(({ id, name, hostname }) =>
      `${id} ${name} ${hostname}`.toLowerCase().includes(text.toLowerCase()),
    )
    .slice(0, MOST)
    .map(({ id, name, status }) => ({ href: at('workers', id), text: name || id, note: status }))
}

/** Things whose id, name or target is the text, or contains it. */
export const searchQuery = (text: string) =>
  queryOptions({
    queryKey: ['search', text],
    staleTime: FRESH_MS,
    queryFn: async ({ signal }): Promise<readonly HitGroup[]> => {
      const isId = NUMBER.test(text) || UUID.test(text)
      if (text.length < MIN_TEXT && !isId) return []
      const groups: readonly (readonly [string, Promise<readonly Hit[]>])[] = [
        ['Runs', orNone(isId ? findRun(text, signal) : findRuns(text, signal))],
        ['Jobs', orNone(findJobs(text, signal))],
        ['Workflows', orNone(findWorkflows(text, signal))],
        ['Findings', orNone(NUMBER.test(text) ? findFinding(text, signal) : findFindings(text, signal))],
        ['Workers', orNone(findWorkers(text, signal))],
      ]
      const found = await Promise.all(groups.map(async ([title, hits]) => ({ title, hits: await hits })))
      return found.filter(({ hits }) => hits.length > 0)
    },
  })
