import { SETTINGS } from '@scanfarm/cli/settings'
import { settingsMarkdown } from '@scanfarm/platform'
import { clientSchema } from './client-schema.ts'
import { commandReference } from './command-reference.ts'
import { compatibilityTable } from './compatibility.ts'
import { databaseDiagrams } from './database-diagram.ts'
import { importFormats } from './import-formats.ts'

/** A generated part of a document, between `<!-- generated: MARK -->` and the next `<!-- /generated -->`. */
export interface Section {
  /** From the root of the workspace. */
  readonly file: string
  readonly mark: string
  render(): string | Promise<string>
}

export const SECTIONS: readonly Section[] = [
  { file: 'docs/operations.md', mark: 'settings', render: () => settingsMarkdown(SETTINGS) },
  { file: 'docs/commands.md', mark: 'commands', render: commandReference },
  { file: 'docs/database.md', mark: 'tables', render: databaseDiagrams },
  { file: 'docs/findings.md', mark: 'imports', render: importFormats },
  { file: 'docs/migrating.md', mark: 'endpoints', render: compatibilityTable },
]

/** A file that is generated as a whole. */
export interface GeneratedFile {
  /** From the root of the workspace. */
  readonly file: string
  render(): Promise<string>
}

export const FILES: readonly GeneratedFile[] = [
  { file: 'packages/client/src/schema.ts', render: clientSchema },
]
