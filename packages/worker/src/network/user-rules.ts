import { FAMILIES, USERS, type Family } from './ruleset.ts'

export type UserRules = Readonly<Record<Family, readonly string[]>>
export const NO_RULES: UserRules = { inet: [], netdev: [] }
export const isEmpty = ({ inet, netdev }: UserRules): boolean => inet.length + netdev.length === 0

/** Where the map leads the packets of a user: to the only rule if it is a jump, otherwise to a chain of the user. */
const verdictOf = (uid: number, [first = '', ...others]: readonly string[]): string =>
  others.length === 0 && first.startsWith('jump ') ? first : `jump u${uid}`

/**
 * Turns the rules of a user into others. Few users have a chain: for each change nft reads all chains, and the kernel waits
 * before it removes one.
 */
export const userRules = (table: string, uid: number, before: UserRules, after: UserRules): string[] =>
  FAMILIES.flatMap((family) => {
    const [was, is] = [before[family], after[family]]
    if (was.join() === is.join()) return []
    const chain = `chain ${family} ${table} u${uid}`
    const users = `element ${family} ${table} ${USERS}`
    const [from, to] = [verdictOf(uid, was), verdictOf(uid, is)]
    const own = `jump u${uid}`
    const [had, has] = [was.length > 0 && from === own, is.length > 0 && to === own]
    const isSame = was.length > 0 && is.length > 0 && from === to
    return [
      ...(was.length > 0 && !isSame ? [`delete ${users} { ${uid} }`] : []),
      ...(had ? [`flush ${chain}`] : []),
      ...(had && !has ? [`delete ${chain}`] : []),
      ...(has && !had ? [`add ${chain}`] : []),
      ...(has ? is.map((rule) => `add rule ${family} ${table} u${uid} ${rule}`) : []),
      ...(is.length > 0 && !isSame ? [`add ${users} { ${uid} : ${to} }`] : []),
    ]
  })
