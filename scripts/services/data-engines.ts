import { chmod, mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  findRedisProgram,
  postgresServer,
  redisServer,
  removeDataDir,
  type ServerKind,
} from '@scanfarm/embedded'
import type { Engine } from './engine.ts'
import { ensurePrograms, PROGRAMS } from './programs.ts'

/** Tests may lose their data with the power: no waiting for the disk. */
const CARELESS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '400',
  wal_level: 'minimal',
  max_wal_senders: '0',
}

const MEMORY = '/dev/shm'
/** `TMPFS_MAGIC` of the kernel's include/uapi/linux/magic.h. */
const TMPFS = 0x01021994
/** Several times what the databases of one run take. */
const ROOM = 4 * 2 ** 30

/**
 * In memory if there is room: tests create and drop hundreds of databases of a thousand files each, for which the file
 * system of a disk takes as long as the tests take for their queries.
 */
const dataRoot = async (): Promise<string> => {
  const found = await statfs(MEMORY).catch(() => undefined)
  return found?.type === TMPFS && found.bavail * found.bsize > ROOM ? MEMORY : tmpdir()
}

/** Passable for others: as root the servers run as an unprivileged user. */
const openFolder = async (name: string): Promise<string> => {
  const folder = await mkdtemp(join(await dataRoot(), `scanfarm-${name}-`))
  await chmod(folder, 0o711)
  return folder
}

const started = async (folder: string, server: ServerKind): Promise<Engine> => ({
  value: await server.start(),
  async [Symbol.asyncDispose]() {
    await server.stop()
    await removeDataDir(folder)
  },
})

/** Superuser URL of a Postgres that lives as long as the tests. */
export const openPostgres = async (): Promise<Engine> => {
  const folder = await openFolder('postgres')
  return started(folder, await postgresServer(folder, { settings: CARELESS }))
}

export const openRedis = async (): Promise<Engine> => {
  const { PATH = '' } = process.env
  if (!(await findRedisProgram(PATH))) ensurePrograms([PROGRAMS.redis])
  const program = await findRedisProgram(PATH)
  if (!program) throw new Error('redis-server is too old: 6.2 or newer is needed')
  const folder = await openFolder('redis')
  return started(folder, await redisServer(folder, program.path))
}
