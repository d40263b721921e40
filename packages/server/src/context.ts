import type { CloudProviders, LifeSettings } from '@scanfarm/cloud'
import type { ArtifactStore } from '@scanfarm/contracts'
import type { Config, Logger, Registry } from '@scanfarm/platform'
import type { RunQueue } from '@scanfarm/queue'
import type { Store } from '@scanfarm/store'
import type { FunctionConsole, WorkflowChecker } from '@scanfarm/workflow'
import type { Authenticator } from './access/authenticator.ts'
import type { LoginDesk } from './access/login.ts'
import type { LocalCancels } from './cancel/local-cancels.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { EventStreams } from './loops/event-receiver/event-streams.ts'
import type { EventReceiver } from './loops/event-receiver/receiver.ts'
import type { Slots } from './uploads/slots.ts'
import type { Wake } from './wake.ts'

/** Where the settings came from. */
export interface SettingsSource {
  /** The settings file, if there is one. */
  readonly file: string | undefined
  /** Reads them again from everywhere they came from. Throws `ConfigError`. */
  read(): Config
}

/** Everything that a server is made of. Handlers and loops take from it only what they use. */
export interface ServerContext {
  readonly config: Config
  /** Missing where the program was given finished settings. */
  readonly settings: SettingsSource | undefined
  /** Accepts distributed runs. */
  readonly master: boolean
  readonly log: Logger
  readonly metrics: Registry
  readonly store: Store
  /** On a master only. */
  readonly queue: RunQueue | undefined
  readonly queueKind: 'redis' | 'postgres' | undefined
  readonly artifacts: ArtifactStore
  readonly catalog: Catalog
  /** Checks the workflow files of requests. */
  readonly checker: WorkflowChecker
  readonly imports: Slots
  /** Snapshots of workspaces that are being sent. */
  readonly snapshots: Slots
  /** Evaluates expressions of requests. */
  readonly functions: FunctionConsole
  readonly evaluations: Slots
  /** To the language model of the settings. */
  readonly questions: Slots
  /** Of cloud mode; none of them is opened before it is used. */
  readonly providers: CloudProviders
  /** Times and bounds of cloud mode that are no settings, where they are not the usual ones. */
  readonly life: Partial<LifeSettings>
  readonly wake: Wake
  readonly receiver: EventReceiver
  readonly streams: EventStreams
  readonly access: Authenticator
  readonly logins: LoginDesk
  /** For local runs of this process. */
  readonly localCancels: LocalCancels
  /** Compare every response with its schema; a difference is answered as an internal error. For tests. */
  readonly checkResponses: boolean
}
