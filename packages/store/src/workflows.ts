import type { WorkflowKind } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { storable } from './text.ts'
import type { Tables } from './tables.ts'
import { allRows } from './rows.ts'

/** Workflow files that were uploaded over the API. */
export const makeWorkflows = (db: Kysely<Tables>) => ({
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
    const row = await db.selectFrom('farm').select('workflows_version').executeTakeFirst()
    return row?.workflows_version ?? 0
  },
  list: () => allRows(db)<{ name: string; kind: WorkflowKind; yaml: string; updatedAt: string }>`
      select name, kind, yaml, updated_at as "updatedAt" from uploaded_workflows order by name, kind
    `,
})
