import type { Step } from '@scanfarm/contracts'
import { sql } from 'kysely'

/** Columns of a step `s`. */
export const STEP_COLUMNS = sql`
  s.id, s.run_id, s.name as step_name, s.type as step_type, s.module, s.status, s.command, s.output,
  s.error_message, s.exports, s.exit_code, s.duration_ms, s.log_file as log_key, s.attempt, s.started_at,
  s.completed_at, s.created_at`

export type StepRow = Omit<Step, 'error' | 'log_file'> & { log_key: string }

export const toStep = ({ log_key, ...row }: StepRow, runUuid: string): Step => ({
  ...row,
  error: row.error_message,
  log_file: log_key === '' ? '' : `/runs/${runUuid}/steps/${row.id}/log`,
})
