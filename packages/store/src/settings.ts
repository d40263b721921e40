import { integer, secret } from '@scanfarm/platform'

const HOUR_MS = 3_600_000

export const storeSettings = {
  database: {
    url: secret('URL of the Postgres database. Not set: the embedded Postgres in the data folder.', {
      env: ['DATABASE_URL'],
    }),
    directUrl: secret(
      'URL of the same database without a pooler, for notifications, which a pooler in transaction mode does not deliver. Not set: `database.url`.',
      { env: ['DATABASE_DIRECT_URL'] },
    ),
    poolServer: integer('Connections of a server, all counted.', { default: 16, min: 8, max: 500 }),
    poolWorker: integer('Connections of a worker.', { default: 2, min: 1, max: 100 }),
    statementMs: integer(
      'Time limit of a statement. Maintenance statements, like repairs and pruning, have ten times this limit.',
      { default: 30_000, min: 1_000, max: HOUR_MS },
    ),
  },
}
