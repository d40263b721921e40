import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { Folder, unless } from '@scanfarm/paths'

/** Calls `use` with the path of an empty file in the folder, to find out whether another machine sees it. */
export const withProbeFile = async <Result>(
  path: string,
  use: (probe: string) => Promise<Result>,
): Promise<Result> => {
  const name = `.scanfarm-${randomUUID()}`
  using folder = Folder.at(path)
  try {
    await using _ = await folder.create(name)
    return await use(join(path, name))
  } finally {
    await folder.unlink(name).catch(unless(['ENOENT'], () => {}))
  }
}
