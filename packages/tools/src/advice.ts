import { readManifest } from './read-manifest.ts'

/** How the machine of a worker gets these programs: only those of the shipped manifest can be installed by a command. */
export const installAdvice = (names: readonly string[]): string => {
  const manifest = readManifest()
  const listed = names.filter((name) => manifest.has(name))
  const others = names.filter((name) => !manifest.has(name))
  return [
    ...(listed.length === 0 ? [] : [`run "scanfarm tools install ${listed.join(' ')}"`]),
    ...(others.length === 0 ? [] : [`install ${others.join(', ')}`]),
  ].join(' and ')
}
