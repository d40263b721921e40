import { join } from 'node:path'
import { artifactOptions, openArtifactStore } from '@scanfarm/artifacts'
import { openProviders, providerSettings } from '@scanfarm/cloud'
import { openServices } from '@scanfarm/embedded'
import { createLogger, createMetrics, type Logger, type Registry } from '@scanfarm/platform'
import { openRunQueue, type RunQueue } from '@scanfarm/queue'
import { migrate, openStore, OTHER_CONNECTIONS, type Store } from '@scanfarm/store'
import { checkSource, folderSource, FunctionConsole, openLibrary, WorkflowChecker } from '@scanfarm/engine'
import type { CheckedFile, SourceFile } from '@scanfarm/language'
import { makeFirstToken } from './access/api-token.ts'
import { createAuthenticator } from './access/authenticator.ts'
import { createLoginService } from './access/login-service.ts'
import { createSessionService } from './access/session-service.ts'
import { LocalCancels, signalCancel } from './cancel.ts'
import { WebConsole } from './console/web-console.ts'
import { createCatalog } from './catalog/catalog.ts'
import { uploadedSource } from './catalog/uploaded-source.ts'
import { ConcurrencyLimit } from './concurrency-limit.ts'
import { SERVER_LIMITS, type ServerContext, type ServerLimits, type SettingsSource } from './context.ts'
import { Dispatcher } from './loops/dispatcher.ts'
import { countDispatched } from './loops/metrics.ts'
import { Notifier } from './notifier.ts'
import { operatorVariables } from './submission/plan-job.ts'
import { Scopes } from './submission/scopes.ts'
import { EventStreams } from './routes/events/event-streams.ts'
import { LogStreams } from './routes/runs/logs/log-streams.ts'
import { EventReceiver } from './triggers/event-receiver.ts'
import { triggerFiles } from './triggers/trigger-files.ts'
import type { Config } from './settings.ts'

export interface ContextOptions {
  /** Whether to accept distributed runs; the settings decide if it is missing. */
  readonly master?: boolean
  readonly settings?: SettingsSource
}

/** Replacements for parts that the settings would open; the caller closes them. For tests. */
export interface Overrides extends Partial<
  Pick<
    ServerContext,
    'log' | 'store' | 'queue' | 'artifacts' | 'providers' | 'provisioning' | 'checkResponses'
  >
> {
  readonly limits?: Partial<ServerLimits>
  /** The checkout or installation that contains the console. */
  readonly consoleRoot?: string
  /** Receives the first administrator token, once in the life of a farm. */
  readonly announce?: (token: string, file: string) => void
}

/** Uploaded workflow files that may wait for a check. */
const MAX_WAITING_CHECKS = 8

/** Each large file is read in a process that may use 1 GiB. */
const MAX_IMPORTS = 4
/** Each snapshot is compressed in Node's thread pool, which file access shares. */
const MAX_SNAPSHOTS = 4
const MAX_EVALUATIONS = 4
const MAX_QUESTIONS = 8

/** Keys can be tried without a delay, so a short key could be guessed. */
const MIN_FILES_KEY = 20

/** Any database login can send notifications at any rate. */
const WAKE_REST_MS = 50

const SHIPPED_WORKFLOWS = join(import.meta.dirname, '../../../workflows')

/** Opens all parts of a server in order; disposing closes them in reverse. Nothing listens or loops yet. */
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
      `http.files_key must have at least ${MIN_FILES_KEY} characters, because links that contain it work without a token`,
    )
  const { store, queue, queueKind } = await openData(config, master, log, overrides, scope)
  const artifacts = overrides.artifacts ?? scope.use(openArtifactStore(artifactOptions(config.artifacts)))
  const notifier = new Notifier({ restMs: WAKE_REST_MS })
  scope.use(await store.listen(() => notifier.notify()))
  await makeFirstToken(store.access, config, log, overrides.announce ?? announceOnTerminal)
  const signingKey = once(() => store.signingKey())
  // Uploads have a checker of their own, so that they do not delay the catalog.
  const catalog = await openCatalog(config, store, scope.use(new WorkflowChecker()))
  const checker = scope.use(new WorkflowChecker({ maxWaiting: MAX_WAITING_CHECKS }))
  const providers = overrides.providers ?? scope.use(openProviders(providerSettings(config.cloud), log))
  const localCancels = new LocalCancels()
  const metrics = createMetrics()
  const scopes = new Scopes(store.scopes, config.scope.required, metrics)
  const receiver = scope.use(
    new EventReceiver({
      store,
      catalog,
      master,
      enabled: config.scheduler.enabled,
      log,
      operatorVariables: operatorVariables(config),
      scopes,
      files: triggerFiles(config),
      signalCancel: (runIds) => signalCancel({ queue, localCancels, log }, runIds),
    }),
  )
  const logins = createLoginService(store.access, signingKey, config.auth.sessionHours)
  const context: ServerContext = {
    config,
    settings: options.settings,
    master,
    log,
    metrics,
    store,
    queue,
    dispatcher: queue && createDispatcher(store, queue, metrics),
    queueKind,
    artifacts,
    catalog,
    scopes,
    checker,
    imports: new ConcurrencyLimit(MAX_IMPORTS, 'imports'),
    snapshots: new ConcurrencyLimit(MAX_SNAPSHOTS, 'snapshots'),
    functions: scope.use(new FunctionConsole(config.targetFile.folders)),
    evaluations: new ConcurrencyLimit(MAX_EVALUATIONS, 'evaluations'),
    questions: new ConcurrencyLimit(MAX_QUESTIONS, 'requests to the language model'),
    providers,
    provisioning: overrides.provisioning ?? {},
    limits: { ...SERVER_LIMITS, ...overrides.limits },
    notifier,
    receiver,
    streams: scope.use(new EventStreams(store.feed, notifier)),
    logStreams: scope.use(
      new LogStreams({
        runs: store.runs,
        artifacts,
        log,
        signalRuns: (runIds) => signalCancel({ queue, localCancels, log }, runIds),
      }),
    ),
    localCancels,
    access: createAuthenticator(store.access, signingKey),
    logins,
    sessions: createSessionService(store.access, logins, config.auth.sessionHours),
    webConsole: scope.use(
      new WebConsole({ log, ...(overrides.consoleRoot && { root: overrides.consoleRoot }) }),
    ),
    checkResponses: overrides.checkResponses ?? false,
  }
  const opened = scope.move()
  return { ...context, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const createDispatcher = ({ outbox, workers }: Store, queue: RunQueue, metrics: Registry): Dispatcher => {
  const dispatched = countDispatched(metrics)
  return new Dispatcher({ outbox, workers, queue, onSent: (count) => dispatched.inc(count) })
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
  const { applied } = await migrate({
    url: services.databaseUrl,
    connections: config.database.poolServer,
    warn: (message) => log.warn(message),
  })
  if (applied.length > 0) log.info('the database schema was migrated', { applied })
  const store = scope.use(
    await openStore({
      url: services.databaseUrl,
      directUrl: services.directUrl,
      poolSize: config.database.poolServer - OTHER_CONNECTIONS,
      applicationName: 'scanfarm server',
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
  const folder = folderSource(SHIPPED_WORKFLOWS)
  // A list takes 1.5 ms, and the first start of a run after a pause would wait for it.
  const shipped = { ...folder, list: once(() => folder.list()) }
  const sources = [uploadedSource(store.workflows), ...config.workflows.folders.map(folderSource), shipped]
  // Shipped files are known to take a few milliseconds: starting the checker's thread takes longer.
  const check = (file: SourceFile): CheckedFile | Promise<CheckedFile> =>
    file.source === shipped.name ? checkSource(file) : checker.check(file)
  return createCatalog(await openLibrary([], { sources, check }), sources)
}

/** Only for a terminal: other outputs are stored as logs. Without a terminal the token is read from its file. */
const announceOnTerminal = (token: string, file: string): void => {
  if (!process.stderr.isTTY) return
  process.stderr.write(
    `\nFirst administrator token (shown once, kept in ${file}):\n\n  ${token}\n\nSend it as: Authorization: Bearer ${token}\n\n`,
  )
}

/** Loads a value on first use and retries after a failure. */
const once = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loaded: Promise<T> | undefined
  return () =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    }))
}
