import { join } from 'node:path'
import { artifactOptions, openArtifactStore } from '@scanfarm/artifacts'
import { openProviders, type CloudProviders, type LifeSettings } from '@scanfarm/cloud'
import type { ArtifactStore } from '@scanfarm/contracts'
import { createLogger, createMetrics, openServices, type Config, type Logger } from '@scanfarm/platform'
import { openRunQueue, type RunQueue } from '@scanfarm/queue'
import { migrate, openStore, type Store } from '@scanfarm/store'
import { folderSource, FunctionConsole, openLibrary, WorkflowChecker } from '@scanfarm/workflow'
import { createAuthenticator } from './access/authenticator.ts'
import { makeFirstToken } from './access/first-token.ts'
import { createLoginDesk } from './access/login.ts'
import { LocalCancels } from './cancel/local-cancels.ts'
import { signalCancel } from './cancel/signal-cancel.ts'
import { createCatalog } from './catalog/catalog.ts'
import { uploadedSource } from './catalog/uploaded-source.ts'
import { providerSettings } from './cloud/provider-settings.ts'
import type { ServerContext, SettingsSource } from './context.ts'
import { EventStreams } from './loops/event-receiver/event-streams.ts'
import { EventReceiver } from './loops/event-receiver/receiver.ts'
import { triggerFiles } from './loops/event-receiver/trigger-files.ts'
import { Slots } from './uploads/slots.ts'
import { Wake } from './wake.ts'

export interface ContextOptions {
  /** Accept distributed runs; missing: as the settings say. */
  readonly master?: boolean
  readonly settings?: SettingsSource
}

/** What tests put in place of what the settings would open; who gives it also closes it. */
export interface Overrides {
  readonly log?: Logger
  readonly store?: Store
  readonly queue?: RunQueue
  readonly artifacts?: ArtifactStore
  readonly providers?: CloudProviders
  readonly life?: Partial<LifeSettings>
  readonly checkResponses?: boolean
  /** Told the first administrator token, once in the life of a farm. */
  readonly announce?: (token: string, file: string) => void
}

/** Workflow files of requests that may wait to be checked. */
const MAX_WAITING_CHECKS = 8

/** Each large file is read by a process that may take 1 GiB. */
const MAX_IMPORTS = 4
/** Each is compressed in the thread pool of Node, which file access shares. */
const MAX_SNAPSHOTS = 4
const MAX_EVALUATIONS = 4
const MAX_QUESTIONS = 8

/** Keys can be tried without a delay: a short one could be guessed. */
const MIN_FILES_KEY = 20

/** Any login of the database can notify, as often as it likes. */
const WAKE_REST_MS = 50

const SHIPPED_WORKFLOWS = join(import.meta.dirname, '../../../workflows')

/** Opens everything a server is made of, in order; disposing closes it in reverse. Nothing serves or loops yet. */
export async function createContext(
  config: Config,
  options: ContextOptions = {},
  overrides: Overrides = {},
): Promise<ServerContext & AsyncDisposable> {
  await using scope = new AsyncDisposableStack()
  const master = options.master ?? config.server.master
  const log = overrides.log ?? createLogger(config.log)
  const filesKey = config.http.filesKey?.reveal()
  if (filesKey !== undefined && filesKey.length < MIN_FILES_KEY)
    throw new Error(
      `http.files_key must have at least ${MIN_FILES_KEY} characters: links with it need no token`,
    )
  const { store, queue, queueKind } = await openData(config, master, log, overrides, scope)
  const artifacts = overrides.artifacts ?? scope.use(openArtifactStore(artifactOptions(config.artifacts)))
  const wake = new Wake({ restMs: WAKE_REST_MS })
  scope.use(await store.listen(() => wake.ring()))
  await makeFirstToken(store.access, config, log, overrides.announce ?? announceOnTerminal)
  const signingKey = once(() => store.signingKey())
  // The files of requests wait for each other, and not the catalog for them.
  const catalog = await openCatalog(config, store, scope.use(new WorkflowChecker()))
  const checker = scope.use(new WorkflowChecker({ maxWaiting: MAX_WAITING_CHECKS }))
  const providers = overrides.providers ?? scope.use(openProviders(providerSettings(config.cloud), log))
  const localCancels = new LocalCancels()
  const receiver = scope.use(
    new EventReceiver({
      store,
      catalog,
      master,
      enabled: config.eventReceiver.enabled,
      log,
      files: triggerFiles(config),
      signalCancel: (runIds) => signalCancel({ queue, localCancels, log }, runIds),
    }),
  )
  const context: ServerContext = {
    config,
    settings: options.settings,
    master,
    log,
    metrics: createMetrics(),
    store,
    queue,
    queueKind,
    artifacts,
    catalog,
    checker,
    imports: new Slots(MAX_IMPORTS, 'imports'),
    snapshots: new Slots(MAX_SNAPSHOTS, 'snapshots'),
    functions: scope.use(new FunctionConsole(config.targetFile.folders)),
    evaluations: new Slots(MAX_EVALUATIONS, 'evaluations'),
    questions: new Slots(MAX_QUESTIONS, 'requests to the language model'),
    providers,
    life: overrides.life ?? {},
    wake,
    receiver,
    streams: scope.use(new EventStreams(store.feed, wake)),
    localCancels,
    access: createAuthenticator(store.access, signingKey),
    logins: createLoginDesk(store.access, signingKey, config.auth.sessionHours),
    checkResponses: overrides.checkResponses ?? false,
  }
  const opened = scope.move()
  return { ...context, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

interface Data {
  readonly store: Store
  readonly queue: RunQueue | undefined
  readonly queueKind: ServerContext['queueKind']
}

const openData = async (
  config: Config,
  master: boolean,
  log: Logger,
  overrides: Overrides,
  scope: AsyncDisposableStack,
): Promise<Data> => {
  if (overrides.store !== undefined)
    return { store: overrides.store, queue: overrides.queue, queueKind: overrides.queue && 'redis' }
  const services = scope.use(await openServices({ config, need: { queue: master }, log }))
  for (const line of services.describe) log.info(line)
  const { applied } = await migrate({ url: services.databaseUrl })
  if (applied.length > 0) log.info('the database was migrated', { applied })
  const store = scope.use(
    await openStore({
      url: services.databaseUrl,
      poolSize: config.database.poolServer,
      statementTimeoutMs: config.database.statementMs,
      applicationName: 'scanfarm server',
      logins: { freeFailures: config.auth.loginAttempts, longestWaitMs: config.auth.loginWaitMs },
      log: (message, facts) => log.warn(message, facts),
    }),
  )
  if (!master || services.queue === null) return { store, queue: undefined, queueKind: undefined }
  const queue = scope.use(
    await openRunQueue(services.queue, { farmId: await store.farmId(), role: 'master', log }),
  )
  await queue.check()
  return { store, queue, queueKind: services.queue.kind }
}

const openCatalog = async (
  config: Config,
  store: Store,
  checker: WorkflowChecker,
): Promise<ServerContext['catalog']> => {
  const sources = [
    uploadedSource(store.workflows),
    ...config.workflows.folders.map(folderSource),
    folderSource(SHIPPED_WORKFLOWS),
  ]
  return createCatalog(await openLibrary([], { sources, check: (file) => checker.check(file) }), sources)
}

/** Only to a person: what is not a terminal is kept, as a log. There the token is read from its file. */
const announceOnTerminal = (token: string, file: string): void => {
  if (!process.stderr.isTTY) return
  process.stderr.write(
    `\nFirst administrator token (shown once, kept in ${file}):\n\n  ${token}\n\nSend it as: Authorization: Bearer ${token}\n\n`,
  )
}

/** Asked for once it is needed, and again only when that failed. */
const once = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loaded: Promise<T> | undefined
  return () =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    }))
}
