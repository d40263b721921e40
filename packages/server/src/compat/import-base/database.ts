import { existsSync } from 'node:fs'
import { errorText } from '@scanfarm/platform'
import { openPostgresBase, openSqliteBase, type BaseDatabase } from '@scanfarm/store'
import type { BaseLayout } from './layout.ts'
import { asText } from './values.ts'

const HINT = 'use `--only settings,workflows,files` to import without it'

const text = ({ settings }: BaseLayout, key: string): string => asText(settings.get(`database.${key}`))

/** The modes of libpq: only these two verify the certificate. */
const sslOf = (mode: string): false | { rejectUnauthorized: boolean } =>
  ['', 'disable'].includes(mode) ? false : { rejectUnauthorized: ['verify-ca', 'verify-full'].includes(mode) }

const failure = (where: string, error: unknown): Error =>
  new Error(`the database of the base folder, ${where}, cannot be read: ${errorText(error)}. ${HINT}`, {
    cause: error,
  })

const named = (base: BaseDatabase, where: string): BaseDatabase => ({
  async count(table) {
    try {
      return await base.count(table)
    } catch (error) {
      throw failure(where, error)
    }
  },
  async *rows(table, order) {
    try {
      yield* base.rows(table, order)
    } catch (error) {
      throw failure(where, error)
    }
  },
  [Symbol.asyncDispose]: () => base[Symbol.asyncDispose](),
})

/** Opens the database of the base folder; undefined if there is none. Errors contain its location. */
export const openBase = async (layout: BaseLayout): Promise<BaseDatabase | undefined> => {
  const { engine, file } = layout.database
  const isPostgres = engine.startsWith('postgres')
  const host = text(layout, 'host') || 'localhost'
  const port = Number(text(layout, 'port')) || 5432
  const database = text(layout, 'db_name') || 'osmedeus'
  const where = isPostgres ? `${database} on ${host}:${port}` : file
  if (!isPostgres && !existsSync(file)) return undefined
  try {
    const base = isPostgres
      ? await openPostgresBase({
          host,
          port,
          user: text(layout, 'username'),
          password: text(layout, 'password'),
          database,
          ssl: sslOf(text(layout, 'ssl_mode')),
        })
      : openSqliteBase(file)
    return named(base, where)
  } catch (error) {
    throw failure(where, error)
  }
}
