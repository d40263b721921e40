export type * from './store.ts'
export type { ConnectionOptions, StoreLog } from './connection.ts'
export { migrate } from './migrate.ts'
export { SchemaError, schemaVersion } from './schema-version.ts'
export { openStore, type StoreOptions } from './open-store.ts'
export { openRunStore, type RunStoreOptions, type WorkerStore } from './run-store/open-run-store.ts'
export { isFeedPosition } from './events/feed.ts'
export { tooManySchedules } from './triggers/schedules.ts'
export { isTopicGlob } from './events/topic-condition.ts'
export { topicPattern } from './triggers/topic-pattern.ts'
export { MAX_SUBSCRIPTIONS } from './webhooks/webhooks.ts'
export {
  BASE_TABLES,
  type BaseDatabase,
  type BaseRow,
  type BaseTable,
} from './base-database/base-database.ts'
export { openPostgresBase } from './base-database/postgres.ts'
export { openSqliteBase } from './base-database/sqlite.ts'
export { NEWEST_RUNS } from './run-part-lists.ts'
export { DEFAULT_ORG } from './workspaces/port.ts'
export { MAX_ORGS } from './workspaces/orgs.ts'
