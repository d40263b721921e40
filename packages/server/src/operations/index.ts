export { diagnose, type Finding } from './diagnose.ts'
export { issueToken } from './issue-token.ts'
export { migrateDatabase, type Migrated } from './migrate-database.ts'
