import { FAMILIES, USERS, type Family } from './ruleset.ts'

export type UserRules = Readonly<Record<Family, readonly string[]>>
export const NO_RULES: UserRules = { inet: [], netdev: [] }
export const isEmpty = ({ inet, netdev }: UserRules): boolean => inet.length + netdev.length === 0

/**
 * Turns the rules of a user into others. Only users with rules have a chain: for each change nft reads all chains and the
 * map that leads to them.
 */
export const userRules = (table: string, uid: number, before: UserRules, after: UserRules): string[] =>
  FAMILIES.flatMap((family) => {
    const [was, is] = [before[family], after[family]]
    if (was.join() === is.join()) return []
    const chain = `chain ${family} ${table} u${uid}`
    const users = `element ${family} ${table} ${USERS}`
    if (is.length === 0) return [`delete ${users} { ${uid} }`, `flush ${chain}`, `delete ${chain}`]
    return [
      ...(was.length === 0 ? [`add ${chain}`, `add ${users} { ${uid} : jump u${uid} }`] : [`flush ${chain}`]),
      ...is.map((rule) => `add rule ${family} ${table} u${uid} ${rule}`),
    ]
  })
