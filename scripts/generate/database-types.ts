import { readSubjects, type Column } from './database-diagram.ts'

/** How the store's pool returns the types of Postgres; see `packages/store/src/database/connection.ts`. */
const TYPES: Readonly<Record<string, string>> = {
  text: 'string',
  uuid: 'string',
  xid8: 'string',
  bigint: 'number',
  int: 'number',
  smallint: 'number',
  numeric: 'ColumnType<string, number | string>',
  boolean: 'boolean',
  bytea: 'Buffer',
  date: 'ColumnType<string, Date | string>',
  float8: 'number',
  inet: 'string',
  int4multirange: 'string',
  jsonb: 'unknown',
  timestamptz: 'Timestamp',
}

const HEAD = `// Generated from packages/store/sql/schema by \`npm run generate\`.
import type { ColumnType, GeneratedAlways } from 'kysely'

type Timestamp = ColumnType<string, Date | string>
/** An insert may leave it out. */
type Generated<T> =
  T extends ColumnType<infer S, infer I, infer U>
    ? ColumnType<S, I | undefined, U>
    : ColumnType<T, T | undefined, T>
`

const typeOf = ({ type, nullable, filled }: Column): string => {
  const one = TYPES[type.replace('[]', '')]
  if (one === undefined) throw new Error(`the type ${type} has no TypeScript type`)
  const base = type.endsWith('[]') ? `${one}[]` : one
  const whole = nullable && base !== 'unknown' ? `${base} | null` : base
  if (filled === 'always') return `GeneratedAlways<${whole}>`
  return filled === 'default' ? `Generated<${whole}>` : whole
}

/** The tables as types for the query builder. */
export const databaseTypes = async (): Promise<string> => {
  const tables = (await readSubjects()).flatMap((subject) => [...subject.tables.values()])
  const lines = tables
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, columns }) => [
      `  ${name}: {`,
      ...[...columns].map(([column, kind]) => `    ${column}: ${typeOf(kind)}`),
      '  }',
    ])
  return [HEAD, 'export interface Tables {', ...lines, '}', ''].join('\n')
}
