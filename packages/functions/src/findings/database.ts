import { ARTIFACT_FUNCTIONS, EXPORT_FUNCTIONS, REPORT_FUNCTION } from './artifacts.ts'
import { COUNTER_FUNCTIONS } from './counters.ts'
import { NO_DATABASE } from './database-of.ts'
import { needing, type FunctionGroup } from '../define.ts'
import { IMPORT_FUNCTIONS } from './imports.ts'
import { SELECT_FUNCTIONS } from './selects.ts'

const orError = needing('database', NO_DATABASE, `error: ${NO_DATABASE}`)

export const DATABASE_FUNCTIONS: FunctionGroup = {
  title: 'Artifacts and findings (findings need a server)',
  functions: [
    ...ARTIFACT_FUNCTIONS,
    ...[...IMPORT_FUNCTIONS, ...COUNTER_FUNCTIONS, ...SELECT_FUNCTIONS, REPORT_FUNCTION].map(orError),
    ...EXPORT_FUNCTIONS,
  ],
}
