import type { Artifact } from '@scanfarm/contracts'

/**
 * Name of an artifact in a snapshot: its path below the workspace, in which nothing climbs, begins at a root or means
 * something to a file system. A folder is kept as a tar.
 */
export const entryName = (
  { artifact_path: path, content_type: type }: Pick<Artifact, 'artifact_path' | 'content_type'>,
  workspace: string,
): string => {
  const below = `/${workspace}/`
  const place = path.indexOf(below)
  const parts = (place === -1 ? path : path.slice(place + below.length))
    // Control characters, what separates folders or drives elsewhere, and half surrogates.
    .toWellFormed()
    .replaceAll(/[\p{Cc}\\:*?"<>|]/gu, '_')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .map((part) => (part === '..' ? '_' : part))
  return `${parts.join('/') || 'unnamed'}${type === 'folder' ? '.tar' : ''}`
}
