import type { Role } from '@scanfarm/contracts'
import { openServices, type Services } from '@scanfarm/embedded'
import type { Logger } from '@scanfarm/platform'
import { migrate, openStore, schemaVersion, type Store } from '@scanfarm/store'
import { newToken, tokenHash } from '../access/api-token.ts'
import type { Config } from '../settings.ts'

/** Runs `work` with the migrated database of these settings, and closes everything afterwards. */
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

/** Creates a token directly in the database, whose password already grants all rights. */
export const issueToken = (
  config: Config,
  request: { name: string; role: Role; expiresAt: Date | null },
  log: Logger,
): Promise<string> =>
  withStore(config, log, async (store) => {
    const token = newToken()
    await store.access.addToken({ ...request, hash: tokenHash(token) })
    return token
  })

export interface Migrated {
  /** Names of the migrations that were applied now, in order. */
  readonly applied: readonly string[]
  /** Name of the newest migration. */
  readonly version: string
}

/** Migrates the database of these settings to the schema of this program. Safe to run at any time and concurrently. */
export const migrateDatabase = (config: Config, log: Logger): Promise<Migrated> =>
  withStore(config, log, async (_store, _services, applied) => ({ applied, version: schemaVersion }))
