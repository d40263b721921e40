import type { Role } from '@scanfarm/contracts'

/** Who sent a request: an API token, or a person who logged in. */
export interface Caller {
  readonly kind: 'token' | 'user' | 'guest'
  readonly id: number
  readonly name: string
  readonly role: Role | undefined
}

/** Nobody known; what public routes see. */
export const GUEST: Caller = { kind: 'guest', id: 0, name: '', role: undefined }
