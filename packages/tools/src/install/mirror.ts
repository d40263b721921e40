import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { architecturesOf, releaseFileOf } from '../architecture.ts'
import type { Tool } from '../manifest.ts'
import { download, sha256Of, type DownloadOptions } from './download.ts'
import { sourceOf } from './source.ts'

export interface MirrorOptions extends Pick<DownloadOptions, 'signal' | 'onBytes'> {
  /** Where the files are taken from, if not from their projects. */
  readonly mirror?: string
}

export interface MirroredFile {
  readonly path: string
  /** False: the folder had it already. */
  readonly changed: boolean
}

/** Puts the release files of a tool, for all architectures, into a folder that can serve as a mirror. */
export const mirrorTool = async (
  tool: Tool,
  folder: string,
  { mirror, ...options }: MirrorOptions,
): Promise<MirroredFile[]> => {
  const files: MirroredFile[] = []
  for (const architecture of architecturesOf(tool)) {
    const { url, sha256 } = releaseFileOf(tool, architecture)
    const { name: path } = sourceOf(url, folder)
    const changed = (await sha256Of(path).catch(() => undefined)) !== sha256
    files.push({ path, changed })
    if (!changed) continue
    await mkdir(dirname(path), { recursive: true })
    const part = `${path}.part-${randomUUID()}`
    try {
      await download(sourceOf(url, mirror), part, { ...options, sha256 })
      await rename(part, path)
    } finally {
      await rm(part, { force: true })
    }
  }
  return files
}
