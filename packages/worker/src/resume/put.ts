import type { Owner } from '@scanfarm/contracts'
import { movedBytes, type Folders } from '../workspaces/moved.ts'
import type { RunFolders } from '../workspaces/work-folders.ts'
import type { Contents, StoredFile } from './contents.ts'
import type { KeptEntry } from './entries.ts'
import { putEntry } from './work-files.ts'

/** A file whose content is that of several. */
export interface Joined {
  readonly kind: 'file'
  readonly mode: number
  readonly parts: readonly { readonly file: StoredFile; readonly of: Folders }[]
}

export const inOrder = <T>(files: Iterable<readonly [string, T]>): (readonly [string, T])[] =>
  // Folders come before what they contain.
  [...files].sort(([one], [other]) => (one < other ? -1 : 1))

/** Makes an entry in the folders of a run. Resolves to whether a file names them. */
export const put = async (
  contents: Contents,
  folders: RunFolders,
  path: string,
  entry: Joined | Exclude<KeptEntry, { kind: 'file' }>,
  owner: Owner | undefined,
): Promise<boolean> => {
  let isMoved = false
  const onMoved = (): void => void (isMoved = true)
  const bytes = async function* ({ parts }: Joined): AsyncGenerator<Buffer> {
    for (const { file, of } of parts) {
      const found = await contents.read(file)
      const isHere = of.workspace === folders.workspace && of.attempt === folders.attempt
      yield* isHere ? found : movedBytes(found, of, folders, onMoved)
    }
  }
  await putEntry(folders, path, owner, async (folder, name) => {
    if (entry.kind === 'link') return await folder.link(name, entry.target, owner)
    if (entry.kind === 'folder') {
      using made = folder.makeFolder(name, { owner, mode: entry.mode })
      if (made === undefined) throw new Error(`${path.slice(2)} is not a folder`)
      return
    }
    await folder.replace(name, async (file) => await file.writeFile(bytes(entry)), {
      owner,
      mode: entry.mode,
    })
  })
  return isMoved
}
