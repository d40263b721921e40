import {
  AppError,
  closed,
  entryProblem,
  NEVER_SCAN_ENTRIES,
  NeverScan,
  NewNeverScan,
  page,
  wrapped,
  type FieldError,
} from '@scanfarm/contracts'
import type { Store } from '@scanfarm/store'
import { Type } from 'typebox'
import type { Caller } from '../../access/authenticator.ts'
import { problemAt, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { authorOf, untilOf } from '../findings/decisions.ts'
import { idOf } from '../named.ts'
import { pageQuery } from '../../http/paging.ts'

const MAX_PROBLEMS = 50
const MAX_BODY_BYTES = 16 * 1024 * 1024
const { cursor: _, ...offsets } = pageQuery

const untilFor = (until: string | null | undefined) =>
  until === undefined || until === null ? {} : { until: untilOf(until, '/until') }

const add = async ({ scopes }: Store, entries: readonly NewNeverScan[], caller: Caller) => {
  const added = await scopes.addNeverScan(entries, authorOf(caller), NEVER_SCAN_ENTRIES)
  if (added !== 'full') return added
  throw new AppError(
    'conflict',
    `the never-scan list has at most ${NEVER_SCAN_ENTRIES} entries: combine hosts to networks or domains, or remove some`,
  )
}

export const listNeverScan = route(
  {
    endpoint: 'GET /never-scan',
    summary: 'List what no run may scan',
    role: 'operator',
    query: closed({
      search: Type.Optional(Type.String({ maxLength: 512, description: 'Part of an entry or a reason' })),
      ...offsets,
    }),
    responses: { 200: page(NeverScan) },
  },
  ({ store }, { query, page }) => store.scopes.neverScan(query.search, page),
)

export const addNeverScan = route(
  {
    endpoint: 'POST /never-scan',
    summary: 'Forbid a host, a domain or a network to all runs',
    description:
      'A name also forbids what is below it, and a network each address in it, also as one of the addresses of a name. An entry that exists gets the new reason and end.',
    role: 'admin',
    body: NewNeverScan,
    responses: { 201: wrapped(NeverScan) },
    errors: ['conflict'],
  },
  async ({ store }, { body, caller }) => {
    refuse(problemAt('/entry', entryProblem(body.entry)))
    const { ids } = await add(store, [{ ...body, ...untilFor(body.until) }], caller)
    const entry = await store.scopes.oneNeverScan(ids[0] ?? 0)
    if (entry === undefined) throw new AppError('conflict', 'another request removed the entry')
    return { data: entry }
  },
)

interface Line {
  readonly line: number
  readonly entry: string
  /** Behind a `#`. */
  readonly reason: string
}

/** The entries of a file: one in each line, optionally with a reason behind `#`. */
const linesOf = (text: string): Line[] =>
  text.split(/\r?\n/).flatMap((whole, index) => {
    const at = whole.search(/(^|\s)#/)
    const entry = (at < 0 ? whole : whole.slice(0, at)).trim()
    const reason = at < 0 ? '' : whole.slice(at).replace(/^\s*#/, '').trim()
    return entry === '' ? [] : [{ line: index + 1, entry, reason }]
  })

export const importNeverScan = route(
  {
    endpoint: 'POST /never-scan/import',
    summary: 'Add the entries of a file to the never-scan list',
    description:
      'All of them or, if one is invalid, none. Entries that exist get the new reason and end; no entry is removed.',
    role: 'admin',
    body: closed({
      text: Type.String({
        minLength: 1,
        description:
          'One entry in each line, with a reason behind # if it has its own; lines that begin with # are comments',
      }),
      reason: NewNeverScan.properties.reason,
      until: NewNeverScan.properties.until,
      workflow: NewNeverScan.properties.workflow,
    }),
    bodyBytes: MAX_BODY_BYTES,
    responses: { 200: Type.Object({ added: Type.Integer(), replaced: Type.Integer() }) },
    errors: ['conflict'],
  },
  async ({ store }, { body, caller }) => {
    const { text, reason: common, workflow, until } = body
    const lines = linesOf(text)
    const problems: FieldError[] = lines.flatMap(({ line, entry, reason }) => {
      const message =
        entryProblem(entry) ??
        (reason.length > MAX_REASON ? `has a reason of more than ${MAX_REASON} characters` : undefined)
      // Lists of other programs have columns.
      const hint = /[\s,;]/.test(entry) ? '; a reason follows #, as in: 10.0.0.1 # a clinic' : ''
      return problemAt('/text', message && `line ${line}: ${message}${hint}`)
    })
    if (lines.length === 0) problems.push({ path: '/text', message: 'contains no entry' })
    refuse(problems.slice(0, MAX_PROBLEMS))
    const shared = { ...untilFor(until), ...(workflow === undefined ? {} : { workflow }) }
    const entries = lines.map(({ entry, reason }) => ({ entry, reason: reason || common, ...shared }))
    const { added, replaced } = await add(store, entries, caller)
    return { added, replaced }
  },
)

const MAX_REASON = 1_024

export const removeNeverScan = route(
  {
    endpoint: 'DELETE /never-scan/{id}',
    summary: 'Remove an entry of the never-scan list',
    role: 'admin',
    params: Type.Object({ id: Type.String({ description: 'Id, or the entry' }) }),
    responses: { 200: Type.Object({ message: Type.String() }) },
    errors: ['conflict'],
  },
  async (context, { params }) => {
    await context.store.scopes.removeNeverScan(Number(await idOf(context, 'never-scan entry', params.id)))
    return { message: 'Entry removed' }
  },
)
