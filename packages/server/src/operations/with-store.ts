import { openServices, type Config, type Logger, type Services } from '@scanfarm/platform'
import { migrate, openStore, type Store } from '@scanfarm/store'

/** Does something with the database of these settings, migrated, and closes everything again. */
export async function withStore<T>(
  config: Config,
  log: Logger,
  work: (store: Store, services: Services, applied: readonly string[]) => Promise<T>,
): Promise<T> {
  await using services = await openServices({ config, need: { queue: config.server.master }, log })
  const { applied } = await migrate({ url: services.databaseUrl })
  await using store = await openStore({
    url: services.databaseUrl,
    poolSize: 2,
    applicationName: 'scanfarm operations',
    log: (message, facts) => log.warn(message, facts),
  })
  return await work(store, services, applied)
}
