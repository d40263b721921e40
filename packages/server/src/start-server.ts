import { startLoops } from '@scanfarm/platform'
import { createContext, type ContextOptions, type Overrides } from './create-context.ts'
import { connectionLimits, createApp } from './http/app.ts'
import { listenHttp } from './http/listen.ts'
import { startCloud } from './cloud/start-cloud.ts'
import { farmLoops } from './loops/farm-loops.ts'
import { retentionLoops } from './loops/retention.ts'
import { orphanLoop } from './loops/orphaned-objects.ts'
import { startSchedules } from './triggers/start-schedules.ts'
import { triggerLoops } from './triggers/trigger-loops.ts'
import { apiRoutes } from './routes/index.ts'
import { startSlots } from './start-slots.ts'
import type { Config } from './settings.ts'

export interface RunningServer extends AsyncDisposable {
  /** `http://address:port` */
  readonly url: string
}

/**
 * Starts the API, the loops and the slots. Disposing drains them: no new requests or runs are accepted, and requests,
 * local runs and cloud runs in progress get `worker.drain_ms`. Remaining requests are then closed and remaining runs
 * are handed back.
 */
export async function startServer(
  config: Config,
  options: ContextOptions = {},
  overrides: Overrides = {},
): Promise<RunningServer> {
  await using scope = new AsyncDisposableStack()
  const context = scope.use(await createContext(config, options, overrides))
  await using running = new AsyncDisposableStack()
  const all = [
    ...farmLoops(context),
    ...triggerLoops(context),
    ...retentionLoops(context),
    orphanLoop(context),
  ]
  const loops = running.use(startLoops(all, context.log))
  running.use(context.notifier.onNotify(() => loops.wake()))
  if (config.scheduler.enabled) running.use(startSchedules(context))
  context.receiver.running = context.receiver.enabled
  running.defer(() => {
    context.receiver.running = false
    context.streams[Symbol.dispose]()
  })
  const cloud = running.use(await startCloud(context))
  running.use(context.notifier.onNotify(() => cloud?.wake()))
  running.use(await startSlots(context))
  const app = createApp(context, apiRoutes())
  const http = await listenHttp(app, {
    host: config.http.host,
    port: config.http.port,
    drainMs: config.worker.drainMs,
    connections: connectionLimits(app),
  })
  context.log.info('the server is listening', { url: http.url, master: context.master })
  const working = running.move()
  scope.defer(async () => {
    await Promise.all([http[Symbol.asyncDispose](), working.disposeAsync()])
  })
  const started = scope.move()
  return { url: http.url, [Symbol.asyncDispose]: () => started.disposeAsync() }
}
