import { randomUUID } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
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
  const add = (token: string) =>
    access.addFirstToken({ name: 'first', role: 'admin', hash: tokenHash(token) })
  if (given !== undefined) return void (await add(given))
  const token = newToken()
  const file = join(await makeDataDir(config.dataDir), FILE_NAME)
  const unfinished = `${file}.${randomUUID()}`
  // Before it counts, for only here can it be had when the output of this program goes nowhere.
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
