import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from './session.ts'

const RANKS = { viewer: 0, operator: 1, admin: 2 } as const
export type Role = keyof typeof RANKS

export const roleAllows = (own: Role, needed: Role): boolean => RANKS[own] >= RANKS[needed]

/** Why the caller may not do what needs this role; undefined if they may, or if it needs none. */
export const useRefusal = (needed: Role | undefined): string | undefined => {
  const { data } = useQuery({ ...sessionQuery, enabled: needed !== undefined })
  if (!data || needed === undefined || roleAllows(data.role, needed)) return undefined
  return `This needs the role ${needed}. You have the role ${data.role}.`
}
