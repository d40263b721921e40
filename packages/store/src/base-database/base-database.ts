/** Tables of the database of an Osmedeus base folder that an import reads. */
export const BASE_TABLES = [
  'runs',
  'step_results',
  'artifacts',
  'assets',
  'vulnerabilities',
  'schedules',
] as const
export type BaseTable = (typeof BASE_TABLES)[number]

/** Columns as the driver gives them: numbers, texts, dates, or JSON that Postgres has parsed. */
export type BaseRow = Readonly<Record<string, unknown>>

/** Reads only: nothing in it is ever changed. */
export interface BaseDatabase extends AsyncDisposable {
  /** 0 for a table that is not there. */
  count(table: BaseTable): Promise<number>
  /** All rows, in the order of these columns; none for a table that is not there. */
  rows(table: BaseTable, order: readonly string[]): AsyncIterable<BaseRow>
}

/** Names of columns and tables come from this program; quoting keeps reserved words apart. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
