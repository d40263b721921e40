import { hash, randomBytes, randomUUID } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDataDir } from '@scanfarm/embedded'
import type { Logger } from '@scanfarm/platform'
import type { Access } from '@scanfarm/store'
import type { Config } from '../settings.ts'

const TOKEN_BYTES = 32
const PREFIX = 'sfm_'

/** A new API token: 256 random bits after a prefix that secret scanners recognise. */
export const newToken = (): string => PREFIX + randomBytes(TOKEN_BYTES).toString('base64url')

/**
 * The stored form of a token. A fast hash is sufficient for 256 random bits, and an index lookup leaks nothing useful:
 * aiming at a hash prefix would mean breaking SHA-256.
 */
export const tokenHash = (token: string): string => hash('sha256', token)

const MARK_LENGTH = 22

/** Changes whenever the stored password changes, and reveals nothing about it. */
export const passwordMark = (passwordHash: string): string =>
  hash('sha256', passwordHash, 'base64url').slice(0, MARK_LENGTH)

const FILE_NAME = 'admin-token'
const OWNER_ONLY = 0o600

/**
 * Creates the administrator token on the first start of a farm: the one from the settings, or a random one that is
 * written to the data folder and passed to `announce` once. If several masters start together, only one creates it.
 */
export async function makeFirstToken(
  access: Access,
  config: Pick<Config, 'auth' | 'dataDir'>,
  log: Logger,
  announce: (token: string, file: string) => void,
): Promise<void> {
  if (await access.anyToken()) return
  const given = config.auth.initialToken?.reveal()
  const add = (token: string) =>
    access.addFirstToken({ name: 'first', role: 'admin', hash: tokenHash(token) })
  if (given !== undefined) return void (await add(given))
  const token = newToken()
  const file = join(await makeDataDir(config.dataDir), FILE_NAME)
  const unfinished = `${file}.${randomUUID()}`
  // The file is written before the token becomes valid: without a terminal it is the only copy.
  await writeFile(unfinished, `${token}\n`, { mode: OWNER_ONLY, flag: 'wx' })
  try {
    if ((await add(token)) === undefined) return
    await rename(unfinished, file)
  } finally {
    await rm(unfinished, { force: true })
  }
  announce(token, file)
  log.info('the first administrator token was made', { file })
}
