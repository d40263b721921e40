import type { Artifact, Step } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { identify } from './find-run.ts'
import { allInOrder, ROW_BYTES, type PageOf } from '../page.ts'
import type { StoredArtifact } from './run-part-lists.ts'
import { STEP_COLUMNS, toStep, type RunRef, type StepRow } from './run-rows.ts'
import type { Tables } from '../tables.ts'
import { isUuid } from '../text.ts'

export const steps = async (
  db: Kysely<Tables>,
  ref: RunRef,
  cursor?: string,
): Promise<PageOf<Step> | undefined> => {
  const run = await identify(db, ref)
  if (!run) return undefined
  const ofRun = sql`from steps where run_id = ${run.id} and attempt = ${run.attempt}`
  return await allInOrder<StepRow, Step>(db, cursor, {
    from: sql`(select * ${ofRun}) s`,
    id: sql`s.seq`,
    counted: ofRun,
    bytes: sql`${ROW_BYTES} + octet_length(s.name) + octet_length(s.command) + octet_length(s.output)
      + 2 * octet_length(s.error_message) + octet_length(s.exports::text)`,
    columns: STEP_COLUMNS,
    item: (row) => toStep(row, run.run_uuid),
  })
}

const ARTIFACT_COLUMNS =
  sql.raw(`id, run_id, name, path as artifact_path, type as artifact_type, content_type,
  size_bytes, line_count, description, created_at`)

export const artifacts = async (
  db: Kysely<Tables>,
  ref: RunRef,
  cursor?: string,
): Promise<PageOf<Artifact> | undefined> => {
  const run = await identify(db, ref)
  if (!run) return undefined
  const ofRun = sql`from artifacts where run_id = ${run.id} and attempt = ${run.attempt}`
  return await allInOrder<Omit<Artifact, 'workspace'>, Artifact>(db, cursor, {
    from: sql`(select *, row_number() over (order by created_at, name, id) as place ${ofRun}) a`,
    id: sql`a.place`,
    counted: ofRun,
    bytes: sql`${ROW_BYTES} + octet_length(a.name) + octet_length(a.path) + octet_length(a.description)`,
    columns: ARTIFACT_COLUMNS,
    item: (row) => ({ ...row, workspace: run.workspace }),
  })
}

export const artifact = async (
  db: Kysely<Tables>,
  ref: RunRef,
  artifactId: string,
): Promise<StoredArtifact | undefined> => {
  const run = isUuid(artifactId) ? await identify(db, ref) : undefined
  if (!run) return undefined
  const { rows } = await sql<Omit<Artifact, 'workspace'> & { store_key: string; sha256: string }>`
    select ${ARTIFACT_COLUMNS}, store_key, sha256 from artifacts where run_id = ${run.id} and id = ${artifactId}
    order by attempt desc limit 1
  `.execute(db)
  return rows[0] && { ...rows[0], workspace: run.workspace }
}
