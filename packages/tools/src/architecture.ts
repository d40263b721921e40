import { arch } from 'node:process'
import { ToolError } from './errors.ts'
import type { Tool } from './manifest.ts'

/** Architectures by the names that Debian and releases use. */
const NAMES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

export const ownArchitecture = (): string => NAMES[arch] ?? arch

/** The architectures for which a tool has release files; `any` if there is one for all. */
export const architecturesOf = ({ release }: Tool): string[] => Object.keys(release?.sha256 ?? {})

export interface ReleaseFile {
  readonly url: string
  readonly sha256: string
  readonly architecture: string
  /** Path in the archive. */
  readonly member: string
}

/** The release file of a tool for an architecture. */
export const releaseFileOf = ({ name, version, release }: Tool, architecture: string): ReleaseFile => {
  if (release === undefined) throw new ToolError(`${name} is a Debian package: it has no release file`)
  const { any, ...sums } = release.sha256
  const sha256 = any ?? new Map(Object.entries(sums)).get(architecture)
  if (sha256 === undefined)
    throw new ToolError(
      `${name} has no release file for ${architecture}, only for ${Object.keys(sums).join(' and ')}: build it, put it into the folder {{Binaries}}, and name it in your own manifest`,
    )
  const fill = (text: string): string =>
    text.replaceAll('{version}', version).replaceAll('{arch}', architecture)
  return {
    url: fill(release.url),
    sha256,
    architecture,
    member: fill(release.program ?? release.folder ?? ''),
  }
}
