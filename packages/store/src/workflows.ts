import type { WorkflowKind } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { storable } from './text.ts'

/** Workflow files that were uploaded over the API. */
export const makeWorkflows = (db: Kysely<unknown>) => ({
  put: async (file: {
    name: string
    kind: WorkflowKind
    yaml: string
    hash: string
    by: string
  }): Promise<void> => {
    const { name, kind, yaml, hash, by } = file
    await sql`
      with put as (
        insert into uploaded_workflows (kind, name, yaml, hash, uploaded_by)
        values (${kind}, ${name}, ${storable(yaml)}, ${hash}, ${by})
        on conflict (kind, name) do update
        set yaml = excluded.yaml, hash = excluded.hash, uploaded_by = excluded.uploaded_by, updated_at = now()
      )
      update farm set workflows_version = workflows_version + 1
    `.execute(db)
  },
  /** Changes whenever any uploaded workflow changes. */
  version: async (): Promise<number> => {
    const { rows } = await sql<{ version: number }>`select workflows_version as version from farm`.execute(db)
    return rows[0]?.version ?? 0
  },
  list: async () => {
    const { rows } = await sql<{ name: string; kind: WorkflowKind; yaml: string; updatedAt: string }>`
      select name, kind, yaml, updated_at as "updatedAt" from uploaded_workflows order by name, kind
    `.execute(db)
    return rows
  },
})
