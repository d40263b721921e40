import { join } from 'node:path'
import type { Tool } from './manifest.ts'

/** The folders of the operator that tools are installed into. */
export interface ToolFolders {
  readonly base: string
  /** Programs. */
  readonly binaries: string
  /** Data of programs, like templates. */
  readonly data: string
}

/** Where an installed tool is found: a program, or a link to the current folder of data. */
export const destinationOf = ({ name, release }: Tool, folders: ToolFolders): string =>
  join(release?.folder === undefined ? folders.binaries : folders.data, name)

/** Contains the folders of data that the link may lead to. */
export const versionsOf = ({ name }: Tool, { data }: ToolFolders): string => join(data, `.${name}`)
