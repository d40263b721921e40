import { AuditEntry } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { pages } from '../../http/paging.ts'

const Time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))

const timeOf = (query: { since?: string; until?: string }, name: 'since' | 'until'): Date | undefined => {
  const text = query[name]
  if (text === undefined) return undefined
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) refuse([{ path: `/${name}`, message: 'must be a time' }])
  return time
}

export const listAudit = route(
  {
    endpoint: 'GET /audit',
    summary: 'List who changed what over the API, the newest change first',
    description:
      'Successful requests other than GET that need the role operator or admin. Their bodies are not recorded. Entries are deleted after 90 days, and the oldest of more than 1,000,000.',
    role: 'admin',
    ...pages(AuditEntry, {
      caller: Type.Optional(Type.String({ maxLength: 128, description: 'Name of a user or token' })),
      method: Type.Optional(Type.Enum(['POST', 'PUT', 'PATCH', 'DELETE'])),
      path: Type.Optional(Type.String({ maxLength: 512, description: 'Part of the path' })),
      since: Time('Changes at this time or later'),
      until: Time('Changes before this time'),
    }),
  },
  async ({ store }, { query, page }) => {
    const { caller, method, path } = query
    const filter = { caller, method, path, since: timeOf(query, 'since'), until: timeOf(query, 'until') }
    return await store.audit.list(filter, page)
  },
)
