import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { fn, textArg, type FunctionGroup } from './define.ts'
import { countLines, isMissing } from './lines.ts'

/** Longest text that a function takes out of a file into an expression. */
export const MAX_TEXT_BYTES = 16 << 20

const exists = async (path: string): Promise<boolean> =>
  await stat(path).then(
    () => true,
    () => false,
  )

/** Nothing for a file that is not there; an error for one that is too large to hold. */
export const readText = async (path: string): Promise<string> => {
  try {
    const { size } = await stat(path)
    if (size > MAX_TEXT_BYTES)
      throw new Error(`${path} is larger than ${MAX_TEXT_BYTES} bytes; work on it with a command`)
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return ''
    throw error
  }
}

export const FILE_FUNCTIONS: FunctionGroup = {
  title: 'Files',
  functions: [
    fn(
      'file_exists(path)',
      'bool',
      'Is there a file or folder?',
      async (args) => await exists(textArg(args, 0)),
    ),
    fn(
      'file_length(path)',
      'number',
      'Non-empty lines; 0 for a file that is not there.',
      async (args) => await countLines(textArg(args, 0)),
    ),
    fn(
      'dir_length(path)',
      'number',
      'Entries of a folder; 0 when it is not there.',
      async (args) => (await readdir(textArg(args, 0)).catch(() => [])).length,
    ),
    fn(
      'read_file(path)',
      'text',
      'The whole text; nothing for a file that is not there.',
      async (args) => await readText(textArg(args, 0)),
    ),
    fn(
      'create_folder(path)',
      'bool',
      'Makes a folder with all above it.',
      async (args) => {
        await mkdir(textArg(args, 0), { recursive: true })
        return true
      },
      ['create_dir', 'createDir'],
    ),
    fn('remove_file(path)', 'bool', 'Removes a file; true also when it was not there.', async (args) => {
      await rm(textArg(args, 0), { force: true })
      return true
    }),
  ],
}
