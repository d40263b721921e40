import { queryOptions } from '@tanstack/react-query'
import { api, ApiError, byId, dataOf, type Schemas } from './client.ts'

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

const hit = (folder: string, id: string, text: string, note: string): Hit => ({
  href: `/${folder}/${encodeURIComponent(id)}`,
  text,
  note,
})
type Listed<T> = Promise<{ readonly data: { readonly data: readonly T[] } }>
const each = async <T>(call: Listed<T>, hitOf: (found: T) => Hit): Promise<readonly Hit[]> =>
  (await dataOf(call)).map(hitOf)

const findRun = async (id: string, signal: AbortSignal): Promise<Hit[]> => {
  const run = await dataOf(api.GET('/runs/{id}', { ...byId(id), signal }))
  return [hit('runs', run.run_uuid, run.target || `Run ${run.id}`, `${run.workflow_name} · ${run.status}`)]
}

const findRuns = (target: string, signal: AbortSignal) =>
  each(
    api.GET('/runs', { params: { query: { target, limit: MOST } }, signal }),
    ({ id, run_uuid, target: text, workflow_name, status }) =>
      hit('runs', run_uuid, text, `${workflow_name} · ${status} · run ${id}`),
  )

const findJobs = async (search: string, signal: AbortSignal) =>
  // The API finds jobs by the beginning of their id.
  /^[\da-f]{1,16}$/.test(search)
    ? each(
        api.GET('/jobs', { params: { query: { search, limit: MOST } }, signal }),
        ({ job_id, workflow_name, status }) => hit('jobs', job_id, job_id, `${workflow_name} · ${status}`),
      )
    : []

const findWorkflows = (search: string, signal: AbortSignal) =>
  each(
    api.GET('/workflows', { params: { query: { search, limit: MOST } }, signal }),
    ({ name, kind, description }) => hit('workflows', name, name, `${kind} · ${description}`),
  )

type Finding = Schemas['Vulnerability']
const findingHit = ({ id, vuln_title, vuln_info, severity, asset_value }: Finding): Hit =>
  hit('findings', String(id), vuln_title || vuln_info, `${severity} · ${asset_value}`)

const findFinding = async (id: string, signal: AbortSignal): Promise<Hit[]> => [
  findingHit(await dataOf(api.GET('/vulnerabilities/{id}', { ...byId(id), signal }))),
]

const findFindings = (search: string, signal: AbortSignal) =>
  each(
    api.GET('/vulnerabilities', { params: { query: { search, sort: 'severity', limit: MOST } }, signal }),
    findingHit,
  )

const findWorkers = async (text: string, signal: AbortSignal): Promise<readonly Hit[]> => {
  const workers = await dataOf(api.GET('/workers', { signal }))
  const wanted = text.toLowerCase()
  return workers
    .filter(({ id, name, hostname }) => `${id} ${name} ${hostname}`.toLowerCase().includes(wanted))
    .slice(0, MOST)
    .map(({ id, name, status }) => hit('workers', id, name || id, status))
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
