import { checked, choice, secret } from '@scanfarm/platform'

export const queueSettings = {
  redis: {
    url: secret(
      'URL of the Redis or Valkey server for the run queue: `redis://`, `rediss://` with TLS, or `redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME`. `?ca=PATH`: file with the certificates (PEM) that sign those of the server. Not set: see `queue.kind`.',
      { env: ['REDIS_URL'] },
    ),
  },
  queue: checked(
    {
      kind: choice(
        'Where the run queue is stored. `auto`: in the Redis of `redis.url`; else in the embedded Redis, if the database is embedded too and redis-server or valkey-server is on PATH; else in Postgres.',
        { of: ['auto', 'redis', 'postgres'], default: 'auto', env: ['SCANFARM_QUEUE'] },
      ),
    },
    (value) =>
      value('queue.kind') === 'postgres' && value('redis.url') !== undefined
        ? ['queue.kind (SCANFARM_QUEUE) is postgres but redis.url (REDIS_URL) is set: remove one of them']
        : [],
  ),
}
