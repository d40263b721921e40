import { choice } from '../../ui/index.ts'

export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

const MEANING: Readonly<Record<Role, string>> = {
  viewer: 'viewer: sees results',
  operator: 'operator: also starts and cancels runs',
  admin: 'admin: also changes workflows, users and tokens',
}

export const roleOf = (text: string | undefined): Role => ROLES.find((role) => role === text) ?? 'viewer'

export const ROLE_FIELD = choice(
  'role',
  'Role',
  ROLES.map((value) => ({ value, label: MEANING[value] })),
)
