import type { Config } from '@scanfarm/platform'
import { createContext, type ContextOptions, type Overrides } from './create-context.ts'
import { connectionLimits, createApp } from './http/app.ts'
import { listenHttp } from './listen-http.ts'
import { startCloud } from './loops/cloud/start-cloud.ts'
import { startLoops } from './loops/index.ts'
import { startRetention } from './loops/pruner/retention.ts'
import { startStraySweep } from './loops/pruner/stray-bytes.ts'
import { startTriggerLoops } from './loops/start-trigger-loops.ts'
import { apiRoutes } from './routes/index.ts'
import { startSlots } from './slots/start-slots.ts'

export interface RunningServer extends AsyncDisposable {
  /** `http://address:port` */
  readonly url: string
}

/**
 * A whole server: API, loops, slots. Disposing drains it: no new requests and no new runs, requests, local and cloud
 * runs that are under way get `server.drain_ms`, then what is left of them is cut or handed back.
 */
export async function startServer(
  config: Config,
  options: ContextOptions = {},
  overrides: Overrides = {},
): Promise<RunningServer> {
  await using scope = new AsyncDisposableStack()
  const context = scope.use(await createContext(config, options, overrides))
  await using running = new AsyncDisposableStack()
  const loops = running.use(startLoops(context))
  running.use(context.wake.onWake(() => loops.wake()))
  const triggers = running.use(startTriggerLoops(context))
  running.use(context.wake.onWake(() => triggers.wake()))
  running.use(startRetention(context))
  running.use(startStraySweep(context))
  const cloud = running.use(await startCloud(context))
  running.use(context.wake.onWake(() => cloud?.wake()))
  running.use(await startSlots(context))
  const app = createApp(context, apiRoutes())
  const http = await listenHttp(app, {
    host: config.http.host,
    port: config.http.port,
    drainMs: config.server.drainMs,
    connections: connectionLimits(config.http, app),
  })
  context.log.info('the server listens', { url: http.url, master: context.master })
  const working = running.move()
  scope.defer(async () => {
    await Promise.all([http[Symbol.asyncDispose](), working.disposeAsync()])
  })
  const started = scope.move()
  return { url: http.url, [Symbol.asyncDispose]: () => started.disposeAsync() }
}
