import { readFileSync } from 'node:fs'

/** The network devices of this process with their numbers. `/sys/class/net` has those of who mounted it. */
export const networkDevices = (folder = '/proc/self/net'): ReadonlyMap<string, string> => {
  const numbers = new Map(
    readFileSync(`${folder}/igmp`, 'latin1')
      .split('\n')
      .flatMap((line) => {
        const [, number = '', name = ''] = /^(\d+)\t(\S+)/.exec(line) ?? []
        return name === '' ? [] : [[name, number] as const]
      }),
  )
  const names = readFileSync(`${folder}/dev`, 'latin1')
    .split('\n')
    .flatMap((line) => /^\s*(\S+):/.exec(line)?.[1] ?? [])
  return new Map(names.map((name) => [`${name}#${numbers.get(name) ?? ''}`, name]))
}
