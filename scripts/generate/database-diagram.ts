import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** A column that names a row of another table. */
export interface Reference {
  readonly column: string
  readonly table: string
  /** Whether a foreign key keeps it; otherwise a comment names the table: `-- refers to jobs`. */
  readonly enforced: boolean
  /** Whether at most one row names the same one. */
  readonly unique: boolean
}

export interface Column {
  readonly type: string
  readonly nullable: boolean
  /** Whether an insert may leave it out, or must. */
  readonly filled?: 'default' | 'always' | undefined
}

export interface Table {
  readonly name: string
  /** The comment above it. */
  readonly description: string
  readonly columns: Map<string, Column>
  readonly references: Reference[]
}

/** A schema file with the tables that it creates. */
export interface Subject {
  readonly title: string
  readonly description: string
  readonly tables: Map<string, Table>
}

const FOLDER = join(import.meta.dirname, '../../packages/store/sql/schema')
const COLUMN = /^\s*(\w+) ((?:timestamptz|[a-z]\w*)(?:\[\])?)/
const NO_COLUMN = /^\s*(?:constraint|primary key|unique|check|and|or)\b/

const textOf = (comment: string): string =>
  comment
    .replaceAll(/^-- ?(?:requires:.*\n)?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** The tables after all schema files, by the file that creates them. */
export const readSubjects = async (): Promise<Subject[]> => {
  const paths = (await readdir(FOLDER)).filter((path) => path.endsWith('.sql')).sort()
  const subjects: Subject[] = []
  for (const path of paths) {
    const text = await readFile(join(FOLDER, path), 'utf8')
    const [, name = ''] = /^\d+-(.+)\.sql$/.exec(basename(path)) ?? []
    const description = textOf(/^(?:--.*\n)+/.exec(text)?.[0] ?? '')
    const subject: Subject = {
      title: `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      description,
      tables: new Map(),
    }
    subjects.push(subject)
    readStatements(text, subject, subjects)
  }
  return subjects.filter(({ tables }) => tables.size > 0)
}

const STATEMENT =
  /^((?:--.*\n)*)create (?:unlogged )?table (\w+) \(\n([^]+?)^\)|^alter table (\w+)\s+([^;]+);.*|^drop table (\w+)/gm

/** A statement may have several changes, also on one line. */
const CHANGE = /(?:^|,)\s*(add|drop|rename|alter) column (.+?)(?=,\s*(?:add|drop|rename|alter) column|$)/gm

const readStatements = (text: string, subject: Subject, all: readonly Subject[]): void => {
  for (const [, comment = '', created, body = '', altered, changes = '', dropped] of text.matchAll(
    STATEMENT,
  )) {
    if (created !== undefined) {
      const table = { name: created, description: textOf(comment), columns: new Map(), references: [] }
      subject.tables.set(created, table)
      for (const line of body.split('\n')) readColumn(table, line)
    }
    const table = all.map(({ tables }) => tables.get(altered ?? '')).find((found) => found !== undefined)
    if (table !== undefined)
      for (const [, action, line = ''] of changes.matchAll(CHANGE)) {
        const [name = '', to = ''] = line.split(/\W+(?:to\W+)?/)
        if (action === 'add') readColumn(table, line)
        const known = table.columns.get(name)
        if (action === 'rename' && known !== undefined) table.columns.set(to, known)
        if (action === 'drop' || action === 'rename') table.columns.delete(name)
        if (action === 'alter' && known !== undefined && /\bnot null\b/.test(line))
          table.columns.set(name, { ...known, nullable: line.includes('drop not null') })
      }
    if (dropped !== undefined) for (const { tables } of all) tables.delete(dropped)
  }
}

const readColumn = (table: Table, line: string): void => {
  const [, column, type] = NO_COLUMN.test(line) ? [] : (COLUMN.exec(line) ?? [])
  if (column === undefined || type === undefined) {
    for (const key of /^\s*primary key \(([\w, ]+)\)/.exec(line)?.[1]?.split(', ') ?? []) {
      const known = table.columns.get(key)
      if (known !== undefined) table.columns.set(key, { ...known, nullable: false })
    }
    return
  }
  const unique = line.includes('primary key')
  table.columns.set(column, {
    type,
    nullable: !unique && !/\bnot null\b|\bas identity\b/.test(line),
    filled: /\bgenerated always\b/.test(line) ? 'always' : /\bdefault\b/.test(line) ? 'default' : undefined,
  })
  const enforced = /\breferences (\w+)/.exec(line)?.[1]
  if (enforced !== undefined) table.references.push({ column, table: enforced, enforced: true, unique })
  for (const named of /-- refers to (.+)/.exec(line)?.[1]?.split(', ') ?? [])
    table.references.push({ column, table: named, enforced: false, unique })
}

/** Of each subject: its tables and what they refer to, as a diagram, and a sentence for each table. */
export const databaseDiagrams = async (): Promise<string> => {
  const subjects = await readSubjects()
  return subjects.map(renderSubject).join('\n\n')
}

const renderSubject = ({ title, description, tables }: Subject): string => {
  const list = [...tables.values()]
  const lines = list.flatMap(({ name, references }) => [
    `  ${name}`,
    ...references.map(
      ({ column, table, enforced, unique }) =>
        `  ${name} ${unique ? '|' : '}'}o${enforced ? '--' : '..'}|| ${table} : ${column}`,
    ),
  ])
  return [
    `## ${title}`,
    description,
    ['```mermaid', 'erDiagram', ...lines, '```'].join('\n'),
    [
      '| table | contents |',
      '| --- | --- |',
      ...list.map(
        (table) =>
          `| \`${table.name}\` | ${table.description.replace(/(?<=\.) [A-Z].*/, '').replaceAll('|', '\\|')} |`,
      ),
    ].join('\n'),
  ].join('\n\n')
}
