import { settingsMarkdown } from '@scanfarm/platform'
import { commandReference } from './command-reference.ts'
import { compatibilityTable } from './compatibility.ts'

/** A part of a document that is written by the code. It stands between `<!-- generated: MARK -->` and the next `<!-- /generated -->`. */
export interface Section {
  /** From the root of the workspace. */
  readonly file: string
  readonly mark: string
  render(): string | Promise<string>
}

export const SECTIONS: readonly Section[] = [
  { file: 'docs/operations.md', mark: 'settings', render: settingsMarkdown },
  { file: 'docs/commands.md', mark: 'commands', render: commandReference },
  { file: 'docs/migrating.md', mark: 'endpoints', render: compatibilityTable },
]
