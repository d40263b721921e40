import type { Config } from '@scanfarm/platform'
import { createContext, type ContextOptions, type Overrides } from './create-context.ts'
import { createApp } from './http/app.ts'
import { listenHttp } from './listen-http.ts'
import { apiRoutes } from './routes/index.ts'

export interface RunningServer extends AsyncDisposable {
  /** `http://address:port` */
  readonly url: string
}

/**
 * A whole server: API, loops, local slots. Disposing drains it: no new requests, those in flight end, the loops stop,
 * local runs get `server.drain_ms` and are handed back after that.
 */
export async function startServer(
  config: Config,
  options: ContextOptions,
  overrides: Overrides = {},
): Promise<RunningServer> {
  await using scope = new AsyncDisposableStack()
  const context = scope.use(await createContext(config, options, overrides))
  const { host, port } = config.http
  const app = createApp(context, apiRoutes())
  const http = scope.use(await listenHttp(app, { host, port, drainMs: config.server.drainMs }))
  context.log.info('the server listens', { url: http.url, master: context.master })
  const running = scope.move()
  return { url: http.url, [Symbol.asyncDispose]: () => running.disposeAsync() }
}
