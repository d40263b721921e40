import type { Artifact, ArtifactType, Step, StepStatus } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { contains, isOneOf, where } from '../findings/condition.ts'
import {
  countOf,
  decodeCursor,
  encodeCursor,
  readPage,
  ROW_BYTES,
  type PageOf,
  type PageRequest,
  type PageRows,
} from '../page.ts'
import { byRef, STEP_COLUMNS, toStep, type RunRef, type StepRow } from './run-rows.ts'
import { canBeStored } from '../text.ts'
import type { Totals } from '../totals.ts'
import type { Tables } from '../tables.ts'
import { firstRow } from '../rows.ts'

/** Lists over several runs read only the newest runs; older ones are found by workspace or run. */
export const NEWEST_RUNS = 10_000

export interface RunPartFilter {
  readonly workspaces?: readonly string[]
  readonly run?: RunRef
}

export interface StepResultFilter extends RunPartFilter {
  readonly statuses?: readonly StepStatus[]
  readonly types?: readonly string[]
}

export interface ArtifactFilter extends RunPartFilter {
  readonly types?: readonly ArtifactType[]
  /** Part of name, path or description, case-insensitive. */
  readonly search?: string
}

/** An artifact with its key in the artifact store. */
export type StoredArtifact = Artifact & { readonly store_key: string; readonly sha256: string }

const isRunRef = (ref: RunRef | undefined): RawBuilder<unknown>[] =>
  ref === undefined ? [] : [byRef(ref) ?? sql`false`]

/** `r`: the newest runs of the filter. */
const recent = ({ workspaces, run }: RunPartFilter): RawBuilder<unknown> => sql`
  (select id, attempt, workspace from runs r ${where([...isOneOf('workspace', workspaces), ...isRunRef(run)])}
   order by id desc limit ${NEWEST_RUNS}) r`

/** A cursor is the number of records before it. */
const listOf = async <R, T>(
  {
    key,
    from,
    read,
    item,
  }: {
    key: string
    from: RawBuilder<unknown>
    read: (offset: number, limit: number) => Promise<PageRows<R>>
    item: (row: R) => T
  },
  db: Kysely<Tables>,
  totals: Totals,
  page: PageRequest,
): Promise<PageOf<T>> => {
  const offset = page.cursor === undefined ? page.offset : decodeCursor(page.cursor)
  const [total, found] = await Promise.all([
    totals.of(key, () => countOf(db, sql`from ${from}`)),
    read(offset, page.limit),
  ])
  const { rows, truncated } = found
  const goesOn = truncated || rows.length === page.limit
  return {
    data: rows.map(item),
    total,
    nextCursor: goesOn ? encodeCursor(offset + rows.length) : undefined,
    truncated,
  }
}

const keyOf = (kind: string, filter: object): string =>
  `${kind} ${JSON.stringify(Object.entries(filter).sort())}`

/** Steps of the latest attempts, newest runs first, in the order of each run. */
export const listStepResults = (
  db: Kysely<Tables>,
  totals: Totals,
  filter: StepResultFilter,
  page: PageRequest,
): Promise<PageOf<Step>> => {
  // `offset 0` prevents flattening: with outdated statistics the plan would read all steps.
  const from = sql`${recent(filter)} cross join lateral (
    select run_id, attempt, seq from steps ${where([
      sql`run_id = r.id and attempt = r.attempt`,
      ...isOneOf('status', filter.statuses),
      ...isOneOf('type', filter.types),
    ])} order by seq offset 0) s`
  return listOf(
    {
      key: keyOf('steps', filter),
      from,
      read: (offset, limit) =>
        readPage<StepRow & { run_uuid: string }>(db, {
          ids: sql`select row_number() over (order by s.run_id desc, s.seq) as id, s.run_id, s.attempt, s.seq
                   from ${from} order by s.run_id desc, s.seq limit ${limit} offset ${offset}`,
          from: sql`(ids p join steps s on s.run_id = p.run_id and s.attempt = p.attempt and s.seq = p.seq
                     join runs r on r.id = p.run_id)`,
          id: sql`p.id`,
          ascending: true,
          bytes: sql`${ROW_BYTES} + octet_length(s.name) + octet_length(s.command) + octet_length(s.output)
            + 2 * octet_length(s.error_message) + octet_length(s.exports::text)`,
          columns: sql`${STEP_COLUMNS}, r.run_uuid`,
        }),
      item: ({ run_uuid, ...row }) => toStep(row, run_uuid),
    },
    db,
    totals,
    page,
  )
}

const ARTIFACT_COLUMNS = sql.raw(`a.id, a.run_id, r.workspace, a.name, a.path as artifact_path,
  a.type as artifact_type, a.content_type, a.size_bytes, a.line_count, a.description, a.created_at,
  a.store_key, a.sha256`)

/** Artifacts of the latest attempts, newest runs first. */
export const listAllArtifacts = (
  db: Kysely<Tables>,
  totals: Totals,
  filter: ArtifactFilter,
  page: PageRequest,
): Promise<PageOf<StoredArtifact>> => {
  const from = sql`${recent(filter)} cross join lateral (
    select run_id, attempt, id, created_at, name from artifacts ${where([
      sql`run_id = r.id and attempt = r.attempt`,
      ...isOneOf('type', filter.types),
      ...contains(sql`(name || ' ' || path || ' ' || description)`, filter.search),
    ])} offset 0) a`
  const order = sql`a.run_id desc, a.created_at, a.name, a.id`
  return listOf(
    {
      key: keyOf('artifacts', filter),
      from,
      read: (offset, limit) =>
        readPage<StoredArtifact>(db, {
          ids: sql`select row_number() over (order by ${order}) as id, a.run_id, a.attempt, a.id as artifact_id
                   from ${from} order by ${order} limit ${limit} offset ${offset}`,
          from: sql`(ids p join artifacts a on a.run_id = p.run_id and a.attempt = p.attempt and a.id = p.artifact_id
                     join runs r on r.id = p.run_id)`,
          id: sql`p.id`,
          ascending: true,
          bytes: sql`${ROW_BYTES} + octet_length(a.name) + octet_length(a.path) + octet_length(a.description)`,
          columns: ARTIFACT_COLUMNS,
        }),
      item: (row) => row,
    },
    db,
    totals,
    page,
  )
}

/**
 * The newest artifact of a workspace whose path is `path` below the workspace's folder. Clients cut the folder off at
 * the first `/<workspace>/`; where the path has none, they send it whole.
 */
export const artifactAt = async (
  db: Kysely<Tables>,
  workspace: string,
  path: string,
): Promise<StoredArtifact | undefined> => {
  if (!canBeStored(workspace) || !canBeStored(path)) return undefined
  const below = `/${workspace}/`
  return await firstRow(db)<StoredArtifact>`
    select ${ARTIFACT_COLUMNS} from ${recent({ workspaces: [workspace] })}
    join artifacts a on a.run_id = r.id and a.attempt = r.attempt
    where right(a.path, length(${`/workspaces${below}${path}`})) = ${`/workspaces${below}${path}`}
       or (strpos(a.path, ${below}) > 0 and substr(a.path, strpos(a.path, ${below}) + length(${below})) = ${path})
       or ltrim(a.path, '/') = ${path}
    order by r.id desc, a.created_at desc, a.id limit 1
  `
}
