export type { StoreLog } from './database/connection.ts'
export { migrate } from './migrate.ts'
export { SchemaError, schemaVersion, UnfitDatabaseError } from './schema-version.ts'
export { openStore, OTHER_CONNECTIONS, type Store, type StoreOptions } from './store.ts'
export { openRunStore, type RunStoreOptions, type WorkerStore } from './run-store/open-run-store.ts'
export { isFeedPosition, type FeedEntry, type FeedFilter, type FeedPosition } from './events/feed.ts'
export {
  tooManySchedules,
  type ScheduleDraft,
  type ScheduleSpec,
  type StoredSchedule,
} from './triggers/schedules.ts'
export type {
  EventPlan,
  EventDraft,
  ExecutionResult,
  ExecutionPlan,
  ScheduledPlan,
} from './triggers/execution-plan.ts'
export type { ClaimedEvent, LastFiring } from './triggers/triggers.ts'
export {
  MAX_SUBSCRIPTIONS,
  type DeliveryOutcome,
  type DueDelivery,
  type Subscription,
  type SubscriptionDraft,
} from './webhooks/webhooks.ts'
export {
  BASE_TABLES,
  type BaseDatabase,
  type BaseRow,
  type BaseTable,
} from './base-database/base-database.ts'
export { openPostgresBase } from './base-database/postgres.ts'
export { openSqliteBase } from './base-database/sqlite.ts'
export { NEWEST_RUNS, withoutStorage, type StoredArtifact } from './runs/run-parts.ts'
export type { Access } from './access/access.ts'
export type { SessionOwner, StoredSession } from './access/sessions.ts'
export { ASSET_FACETS, ASSET_SORTS, type AssetFilter, type AssetSort } from './assets/assets.ts'
export type { CloudStore } from './cloud/cloud-store.ts'
export type { InfraRecord, InstanceRecord } from './cloud/infra-records.ts'
export type { RunMachine } from './cloud/machines.ts'
export type { CloudBudget, CloudChoice, InfraDraft } from './cloud/requests.ts'
export type { OpenWorker, SeriesKind, SeriesPoint } from './figures.ts'
export type { WaitingGroup } from './runs/queue-depth.ts'
export { COUNTED_BEFORE } from './runs/queue-place.ts'
export { lackOf, missingFor, type Lack, type Offers } from './runs/waiting-reason.ts'
export {
  VULNERABILITY_SORTS,
  type VulnerabilityFilter,
  type VulnerabilitySort,
} from './findings/list-vulnerabilities.ts'
export { SaveQueues } from './findings/save-queues.ts'
export { GROUP_BY, GROUP_SORTS, MAX_GROUPS, type GroupBy } from './findings/groups.ts'
export { SORTED_RECORDS } from './findings/sorted.ts'
export type { NamedKind } from './findings/named.ts'
export { RUN_SORTS, type RunSort } from './runs/run-list.ts'
export { FINDING_FACETS, type FindingChange } from './findings/triage.ts'
export { MAX_RULES, PREVIEW } from './findings/rules.ts'
export { HOST_RECORDS } from './assets/hosts.ts'
export type { History, PastArtifact, PastRecord, PastRun, PastStep } from './history/history.ts'
export { JOB_SORTS, JOB_STATES, type CountedJob, type JobSort, type JobState } from './jobs/job-list.ts'
export type { RunNight } from './jobs/nights.ts'
export { STRIP_RUNS } from './jobs/job-strip.ts'
export type { Retried, RetrySelection, VoidMessages } from './jobs/change-job.ts'
export { MAX_SCOPES, type ScopeBook } from './scopes.ts'
export type {
  DeltaDraft,
  JobDraft,
  Refused,
  SubmittedJob,
  TargetDraft,
  TargetStream,
} from './jobs/job-draft.ts'
export type { LogState } from './runs/run-logs.ts'
export type { OutboxRow } from './runs/outbox.ts'
export { decodeCursor, encodeCursor, type PageOf, type PageRequest } from './page.ts'
export { FACET_RECORDS, FACET_VALUES, type Facets } from './findings/facets.ts'
export { DEFAULT_ORG } from './workspaces/names.ts'
export { MAX_SAVED_FILTERS } from './findings/saved-filters.ts'
export { MAX_ORGS } from './workspaces/orgs.ts'
