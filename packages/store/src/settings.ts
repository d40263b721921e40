import { integer, secret } from '@scanfarm/platform'

const HOUR_MS = 3_600_000

export const storeSettings = {
  database: {
    url: secret('URL of the Postgres database. Not set: the embedded Postgres in the data folder.', {
      env: ['DATABASE_URL'],
    }),
    poolServer: integer('Connections of a server.', { default: 10, min: 2, max: 500 }),
    poolWorker: integer('Connections of a worker.', { default: 2, min: 1, max: 100 }),
    statementMs: integer(
      'Time limit of a statement. Maintenance statements, like repairs and pruning, have ten times this limit.',
      { default: 30_000, min: 1_000, max: HOUR_MS },
    ),
  },
}
