import type { CloudProviders, ProvisioningSettings } from '@scanfarm/cloud'
import type { ArtifactStore } from '@scanfarm/contracts'
import type { Logger, Registry, SettingsTable } from '@scanfarm/platform'
import type { RunQueue } from '@scanfarm/queue'
import type { Store } from '@scanfarm/store'
import type { FunctionConsole, WorkflowChecker } from '@scanfarm/engine'
import type { Authenticator } from './access/authenticator.ts'
import type { LoginService } from './access/login-service.ts'
import type { SessionService } from './access/session-service.ts'
import type { LocalCancels } from './cancel.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { WebConsole } from './console/web-console.ts'
import type { EventStreams } from './routes/events/event-streams.ts'
import type { LogStreams } from './routes/runs/logs/log-streams.ts'
import type { EventReceiver } from './triggers/event-receiver.ts'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import type { Dispatcher } from './loops/dispatcher.ts'
import type { Notifier } from './notifier.ts'
import type { Scopes } from './submission/scopes.ts'
import type { Config } from './settings.ts'

/** The origin of the settings. */
export interface SettingsSource {
  /** The settings file, if there is one. */
  readonly file: string | undefined
  /** All settings of this program, in the order of the documentation. */
  readonly table: SettingsTable
  /** Where each value was given, by dotted key. */
  readonly origins: ReadonlyMap<string, string>
  /** Reads the settings again from all their sources. Throws `ConfigError`. */
  read(): Config
}

/** Bounds of requests. */
export interface ServerLimits {
  /** A request whose body makes no progress for this long is answered with 408. */
  readonly bodyIdleMs: number
  readonly uploadBytes: number
  /** Targets of one request. */
  readonly targets: number
}

export const SERVER_LIMITS: ServerLimits = {
  bodyIdleMs: 15_000,
  uploadBytes: 256 * 1024 * 1024,
  targets: 10_000_000,
}

/** All parts of a server. Handlers and loops take only what they use. */
export interface ServerContext {
  readonly config: Config
  /** Missing if the caller passed finished settings. */
  readonly settings: SettingsSource | undefined
  /** Whether this server accepts distributed runs. */
  readonly master: boolean
  readonly log: Logger
  readonly metrics: Registry
  readonly store: Store
  /** Only on a master. */
  readonly queue: RunQueue | undefined
  /** Only with a queue. */
  readonly dispatcher: Dispatcher | undefined
  readonly queueKind: 'redis' | 'postgres' | undefined
  readonly artifacts: ArtifactStore
  readonly catalog: Catalog
  /** What may be scanned. */
  readonly scopes: Scopes
  /** Checks workflow files that clients upload. */
  readonly checker: WorkflowChecker
  readonly imports: ConcurrencyLimit
  /** Limits workspace snapshots that are being sent. */
  readonly snapshots: ConcurrencyLimit
  /** Evaluates expressions that clients send. */
  readonly functions: FunctionConsole
  readonly evaluations: ConcurrencyLimit
  /** Limits requests to the language model. */
  readonly questions: ConcurrencyLimit
  /** The providers of cloud mode; each one is opened on first use. */
  readonly providers: CloudProviders
  /** Overrides for times and limits of cloud mode that are not settings. */
  readonly provisioning: Partial<ProvisioningSettings>
  readonly limits: ServerLimits
  readonly notifier: Notifier
  readonly receiver: EventReceiver
  readonly streams: EventStreams
  readonly logStreams: LogStreams
  readonly access: Authenticator
  readonly logins: LoginService
  readonly sessions: SessionService
  readonly webConsole: WebConsole
  /** For local runs of this process. */
  readonly localCancels: LocalCancels
  /** Compare every response with its schema and answer a mismatch with an internal error. For tests. */
  readonly checkResponses: boolean
}
