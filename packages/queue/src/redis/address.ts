import { readFile } from 'node:fs/promises'
import type { RedisOptions } from 'ioredis'
import { QueueSetupError } from '../run-queue.ts'

/** How to connect to a Redis server, or to the one that its sentinels name. */
export interface RedisAddress {
  readonly options: RedisOptions
  /** For messages: without secrets. */
  readonly place: string
  readonly hasSentinels: boolean
}

const FORMS =
  'redis://HOST:PORT, rediss:// for TLS, valkey://, valkeys://, or redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME'
const SCHEME = /^(?:redis|valkey)(?<tls>s?)(?<sentinel>\+sentinel)?$/
const SENTINEL_PORT = 26379
const MOST_DATABASES = 16384

const refuse = (problem: string): never => {
  throw new QueueSetupError(`redis.url (REDIS_URL) ${problem}: it has the form ${FORMS}`)
}

/** Parses the URL; reads the certificates. Rejects with what is wrong, without a part of the URL that may be secret. */
export const redisAddress = async ({ url }: { readonly url: string }): Promise<RedisAddress> => {
  const {
    scheme = '',
    user = '',
    hosts = '',
    path = '',
    query = '',
  } = /^(?<scheme>[a-z+]+):\/\/(?:(?<user>[^/?#]*)@)?(?<hosts>[^/?#]+)(?:\/(?<path>[^?#]*))?(?:\?(?<query>.*))?$/i.exec(
    url,
  )?.groups ?? {}
  const form = SCHEME.exec(scheme.toLowerCase())
  if (form === null)
    return refuse(scheme === '' ? 'is not a URL of Redis' : `has the unknown scheme ${scheme}`)
  const isTls = form.groups?.['tls'] === 's'
  const hasSentinels = form.groups?.['sentinel'] !== undefined
  const parameters = new URLSearchParams(query)
  const ca = parameters.get('ca') ?? undefined
  if (ca !== undefined && !isTls) refuse('has ?ca=, but no TLS')
  const tls = isTls ? { tls: ca === undefined ? {} : { ca: await certificates(ca) } } : {}
  const [username, ...password] = user.split(':').map(decoded)
  const login = {
    ...(username ? { username } : {}),
    ...(password.length > 0 ? { password: password.join(':') } : {}),
  }
  const [first = '', second] = path.split('/')
  const db = databaseOf(hasSentinels ? second : first)
  if (!hasSentinels) {
    const [server] = hosts.includes(',')
      ? refuse('names several servers without +sentinel')
      : [hostOf(hosts, 6379)]
    return { options: { ...server, ...login, ...tls, db }, place: hosts, hasSentinels }
  }
  if (first === '') refuse('names no group of servers after the sentinels')
  return {
    options: {
      sentinels: hosts.split(',').map((host) => hostOf(host, SENTINEL_PORT)),
      name: decoded(first),
      sentinelUsername: parameters.get('sentinel_user') ?? undefined,
      sentinelPassword: parameters.get('sentinel_password') ?? undefined,
      ...login,
      ...tls,
      ...(isTls ? { sentinelTLS: tls.tls, enableTLSForSentinelMode: true } : {}),
      db,
    },
    place: `${hosts}/${first}`,
    hasSentinels,
  }
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return refuse('has a % in its login that is not followed by two hexadecimal digits')
  }
}

const databaseOf = (text: string | undefined): number => {
  if (text === undefined || text === '') return 0
  const db = Number(text)
  return Number.isInteger(db) && db >= 0 && db < MOST_DATABASES
    ? db
    : refuse('has a database that is not a number')
}

const hostOf = (text: string, fallback: number): { host: string; port: number } => {
  const {
    host,
    bare = '',
    port = fallback,
  } = /^(?:\[(?<host>[^\]]+)\]|(?<bare>[^:[\]]+))(?::(?<port>\d{1,5}))?$/.exec(text)?.groups ?? {}
  const name = host ?? bare
  return name === '' || Number(port) > 65535
    ? refuse('has no valid host and port')
    : { host: name, port: Number(port) }
}

const certificates = (file: string): Promise<Buffer> =>
  readFile(file).catch((error: unknown) => {
    throw new QueueSetupError(`the certificates of redis.url (ca=${file}) cannot be read`, { cause: error })
  })
