import { integer, secret } from '@scanfarm/platform'

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
  },
}
