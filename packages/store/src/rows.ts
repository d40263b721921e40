import { sql, type Kysely } from 'kysely'
import type { Tables } from './tables.ts'

// Tags of SQL statements, for what most of them are asked for.

/** Its rows. */
export const allRows =
  (db: Kysely<Tables>) =>
  async <T>(text: TemplateStringsArray, ...values: readonly unknown[]): Promise<T[]> =>
    (await sql<T>(text, ...values).execute(db)).rows

/** Its first row. */
export const firstRow =
  (db: Kysely<Tables>) =>
  async <T>(text: TemplateStringsArray, ...values: readonly unknown[]): Promise<T | undefined> =>
    (await sql<T>(text, ...values).execute(db)).rows[0]

/** The value of its only column in its first row; `fallback` without a row, or for null. */
export const firstValue =
  <T>(db: Kysely<Tables>, fallback: T) =>
  async (text: TemplateStringsArray, ...values: readonly unknown[]): Promise<T> => {
    const [row = {}] = await allRows(db)<Record<string, T | null>>(text, ...values)
    return Object.values(row)[0] ?? fallback
  }

/** How many rows it changed. */
export const changedRows =
  (db: Kysely<Tables>) =>
  async (text: TemplateStringsArray, ...values: readonly unknown[]): Promise<number> =>
    Number((await sql(text, ...values).execute(db)).numAffectedRows ?? 0n)
