import type { Role } from '@scanfarm/contracts'
import type { Config, Logger } from '@scanfarm/platform'
import { newToken, tokenHash } from '../access/secret-hash.ts'
import { withStore } from './with-store.ts'

/**
 * Makes a token right in the database, for an operator who has no token (any more). Whoever can do so has the database's
 * password, and with it all rights already.
 */
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
