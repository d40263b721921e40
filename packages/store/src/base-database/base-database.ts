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

/** Columns as returned by the driver: numbers, texts, dates or parsed JSON. */
export type BaseRow = Readonly<Record<string, unknown>>

/** Read-only. */
export interface BaseDatabase extends AsyncDisposable {
  /** 0 if the table does not exist. */
  count(table: BaseTable): Promise<number>
  /** All rows, ordered by these columns; none if the table does not exist. */
  rows(table: BaseTable, order: readonly string[]): AsyncIterable<BaseRow>
}

/** Quotes a name of this program, since some are reserved words. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
