import { FUNCTIONS } from '@scanfarm/functions'
import {
  type WorkflowLibrary,
  checkFile,
  openSources,
  type CheckedFile,
  type LibraryOptions,
  type SourceFile,
} from '@scanfarm/language'
import { folderSource } from './folder-source.ts'

/** Checks a file against the function library. */
export const checkSource = (file: SourceFile): CheckedFile => checkFile(file, FUNCTIONS)

/**
 * Opens the workflows of some folders, which take precedence over the other sources. `check` runs on the caller's
 * thread.
 */
export const openLibrary = async (
  folders: readonly string[],
  { sources = [], check = checkSource, ...options }: Partial<LibraryOptions> = {},
): Promise<WorkflowLibrary> =>
  await openSources({ ...options, check, sources: [...folders.map(folderSource), ...sources] })
