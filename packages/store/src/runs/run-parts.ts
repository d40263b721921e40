import type { Artifact, ArtifactType, Step, StepStatus } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { contains, isOneOf, where } from '../findings/condition.ts'
import {
  allInOrder,
  countOf,
  decodeCursor,
  encodeCursor,
  readPage,
  ROW_BYTES,
  type PageOf,
  type PageRequest,
  type PageSource,
} from '../page.ts'
import { identify } from './find-run.ts'
import { byRef, STEP_COLUMNS, toStep, type RunRef, type StepRow } from './run-rows.ts'
import { canBeStored, isUuid } from '../text.ts'
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

/** Columns and bytes of an artifact `a` of a run `r`. */
const ARTIFACT = {
  columns: sql.raw(`a.id, a.run_id, r.workspace, a.name, a.path as artifact_path, a.type as artifact_type,
    a.content_type, a.size_bytes, a.line_count, a.description, a.created_at, a.store_key, a.sha256`),
  bytes: sql`${ROW_BYTES} + octet_length(a.name) + octet_length(a.path) + octet_length(a.description)`,
}
const STEP_BYTES = sql`${ROW_BYTES} + octet_length(s.name) + octet_length(s.command) + octet_length(s.output)
  + 2 * octet_length(s.error_message) + octet_length(s.exports::text)`

export const makeRunParts = (db: Kysely<Tables>, totals: Totals) => ({
  /** One page of the steps of the latest attempt, in order; undefined for an unknown run. */
  async steps(ref: RunRef, cursor?: string): Promise<PageOf<Step> | undefined> {
    const run = await identify(db, ref)
    if (!run) return undefined
    const ofRun = sql`from steps where run_id = ${run.id} and attempt = ${run.attempt}`
    return await allInOrder<StepRow, Step>(db, cursor, {
      from: sql`(select * ${ofRun}) s`,
      id: sql`s.seq`,
      counted: ofRun,
      bytes: STEP_BYTES,
      columns: STEP_COLUMNS,
      item: (row) => toStep(row, run.run_uuid),
    })
  },
  async artifacts(ref: RunRef, cursor?: string): Promise<PageOf<Artifact> | undefined> {
    const run = await identify(db, ref)
    if (!run) return undefined
    const ofRun = sql`from artifacts where run_id = ${run.id} and attempt = ${run.attempt}`
    return await allInOrder<StoredArtifact, Artifact>(db, cursor, {
      ...ARTIFACT,
      from: sql`((select *, row_number() over (order by created_at, name, id) as place ${ofRun}) a
                 join runs r on r.id = a.run_id)`,
      id: sql`a.place`,
      counted: ofRun,
      item: withoutStorage,
    })
  },
  async artifact(ref: RunRef, artifactId: string): Promise<StoredArtifact | undefined> {
    const run = isUuid(artifactId) ? await identify(db, ref) : undefined
    if (!run) return undefined
    return await firstRow(db)<StoredArtifact>`
      select ${ARTIFACT.columns} from artifacts a join runs r on r.id = a.run_id
      where a.run_id = ${run.id} and a.id = ${artifactId} order by a.attempt desc limit 1
    `
  },
  /** Steps of the latest attempts of the newest runs, newest runs first, in the order of each run. */
  stepResults(filter: StepResultFilter, page: PageRequest): Promise<PageOf<Step>> {
    // `offset 0` prevents flattening: with outdated statistics the plan would read all steps.
    const from = sql`${recent(filter)} cross join lateral (
      select run_id, attempt, seq from steps ${where([
        sql`run_id = r.id and attempt = r.attempt`,
        ...isOneOf('status', filter.statuses),
        ...isOneOf('type', filter.types),
      ])} order by seq offset 0) s`
    const order = sql`s.run_id desc, s.seq`
    return listOf<StepRow & { run_uuid: string }, Step>(db, totals, page, {
      key: keyOf('steps', filter),
      ids: sql`select row_number() over (order by ${order}) as id, s.run_id, s.attempt, s.seq`,
      found: from,
      order,
      from: sql`(ids p join steps s on s.run_id = p.run_id and s.attempt = p.attempt and s.seq = p.seq
                 join runs r on r.id = p.run_id)`,
      bytes: STEP_BYTES,
      columns: sql`${STEP_COLUMNS}, r.run_uuid`,
      item: ({ run_uuid, ...row }) => toStep(row, run_uuid),
    })
  },
  /** Artifacts of the latest attempts, newest runs first. */
  allArtifacts(filter: ArtifactFilter, page: PageRequest): Promise<PageOf<StoredArtifact>> {
    const from = sql`${recent(filter)} cross join lateral (
      select run_id, attempt, id, created_at, name from artifacts ${where([
        sql`run_id = r.id and attempt = r.attempt`,
        ...isOneOf('type', filter.types),
        ...contains(sql`(name || ' ' || path || ' ' || description)`, filter.search),
      ])} offset 0) a`
    const order = sql`a.run_id desc, a.created_at, a.name, a.id`
    return listOf<StoredArtifact, StoredArtifact>(db, totals, page, {
      ...ARTIFACT,
      key: keyOf('artifacts', filter),
      ids: sql`select row_number() over (order by ${order}) as id, a.run_id, a.attempt, a.id as artifact_id`,
      found: from,
      order,
      from: sql`(ids p join artifacts a on a.run_id = p.run_id and a.attempt = p.attempt and a.id = p.artifact_id
                 join runs r on r.id = p.run_id)`,
      item: (row) => row,
    })
  },
  /**
   * The newest artifact of a workspace whose path is `path` below the workspace's folder. Clients cut the folder off at
   * the first `/<workspace>/`; where the path has none, they send it whole.
   */
  async artifactAt(workspace: string, path: string): Promise<StoredArtifact | undefined> {
    if (!canBeStored(workspace) || !canBeStored(path)) return undefined
    const below = `/${workspace}/`
    return await firstRow(db)<StoredArtifact>`
      select ${ARTIFACT.columns} from ${recent({ workspaces: [workspace] })}
      join artifacts a on a.run_id = r.id and a.attempt = r.attempt
      where right(a.path, length(${`/workspaces${below}${path}`})) = ${`/workspaces${below}${path}`}
         or (strpos(a.path, ${below}) > 0 and substr(a.path, strpos(a.path, ${below}) + length(${below})) = ${path})
         or ltrim(a.path, '/') = ${path}
      order by r.id desc, a.created_at desc, a.id limit 1
    `
  },
})

/** An artifact as callers see it. */
export const withoutStorage = ({ store_key: _, sha256: __, ...artifact }: StoredArtifact): Artifact =>
  artifact

/** `r`: the newest runs of the filter. */
const recent = ({ workspaces, run }: RunPartFilter): RawBuilder<unknown> => sql`
  (select id, attempt, workspace from runs r ${where([
    ...isOneOf('workspace', workspaces),
    ...(run === undefined ? [] : [byRef(run) ?? sql`false`]),
  ])}
   order by id desc limit ${NEWEST_RUNS}) r`

const keyOf = (kind: string, filter: object): string =>
  `${kind} ${JSON.stringify(Object.entries(filter).sort())}`

/** A list over several runs. A cursor is the number of records before it. */
const listOf = async <R extends object, T>(
  db: Kysely<Tables>,
  totals: Totals,
  page: PageRequest,
  list: Omit<PageSource, 'id' | 'ascending' | 'order'> & {
    readonly key: string
    /** What `ids` selects from, and in which order. */
    readonly found: RawBuilder<unknown>
    readonly order: RawBuilder<unknown>
    readonly item: (row: R) => T
  },
): Promise<PageOf<T>> => {
  const { key, ids, found, order, item, ...source } = list
  const offset = page.cursor === undefined ? page.offset : decodeCursor(page.cursor)
  const [total, { rows, truncated }] = await Promise.all([
    totals.of(key, () => countOf(db, sql`from ${found}`)),
    readPage<R>(db, {
      ...source,
      ids: sql`${ids} from ${found} order by ${order} limit ${page.limit} offset ${offset}`,
      id: sql`p.id`,
      ascending: true,
    }),
  ])
  const goesOn = truncated || rows.length === page.limit
  return {
    data: rows.map(item),
    total,
    nextCursor: goesOn ? encodeCursor(offset + rows.length) : undefined,
    truncated,
  }
}
