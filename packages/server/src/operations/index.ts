export { diagnose, machineTools } from './diagnose.ts'
export type { CheckResult } from './diagnose-tools.ts'
export { issueToken } from './store-operations.ts'
export { migrateDatabase, type Migrated } from './store-operations.ts'
export {
  BASE_PARTS,
  importBase,
  type BasePart,
  type ImportBaseOptions,
} from '../compat/import-base/import-base.ts'
export type { BaseReport, PartReport, SettingReport } from '../compat/import-base/report.ts'
