import { Type } from 'typebox'

export const InfraPath = Type.Object({ infra_id: Type.String() })

/** Where the status of an infrastructure is read, below the root that the request came in by. */
export const statusUrl = (root: string, infraId: string): string =>
  `${root}/cloud/instances/${infraId}/status`
