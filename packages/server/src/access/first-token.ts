import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDataDir, type Config, type Logger } from '@scanfarm/platform'
import type { Access } from '@scanfarm/store'
import { newToken, tokenHash } from './secret-hash.ts'

const FILE_NAME = 'admin-token'
const OWNER_ONLY = 0o600

/**
 * The first start of a farm makes an administrator's token: that of the settings, or a random one that is written to
 * the data folder and told once through `announce`. Of several masters starting at once only one does so.
 */
export async function makeFirstToken(
  access: Access,
  config: Pick<Config, 'auth' | 'dataDir'>,
  log: Logger,
  announce: (token: string, file: string) => void,
): Promise<void> {
  if (await access.anyToken()) return
  const given = config.auth.initialToken?.reveal()
  const token = given ?? newToken()
  const made = await access.addFirstToken({ name: 'first', role: 'admin', hash: tokenHash(token) })
  if (made === undefined || given !== undefined) return
  const file = join(config.dataDir, FILE_NAME)
  // First, for only here can it be had when the file cannot be written.
  announce(token, file)
  await makeDataDir(config.dataDir)
  await writeFile(file, `${token}\n`, { mode: OWNER_ONLY })
  // The mode above only counts for a new file.
  await chmod(file, OWNER_ONLY)
  log.info('the first administrator token was made', { file })
}
