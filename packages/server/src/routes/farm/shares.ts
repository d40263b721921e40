import { AppError, Share, wrapped } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'

export const listShares = route(
  {
    endpoint: 'GET /shares',
    summary: 'List whose runs get more than one share of the workers',
    role: 'viewer',
    responses: { 200: Type.Object({ data: Type.Array(Share) }) },
    errors: [],
  },
  async ({ store }) => ({ data: await store.shares.list() }),
)

export const setShare = route(
  {
    endpoint: 'PUT /shares',
    summary: 'Set how many shares of the workers the runs of an owner get',
    description:
      'Among the waiting runs of one priority, owners get runs started in proportion to their weight (default 1), and the jobs of one owner share equally. Both apply to what is queued from now; up to 20,000 runs of a priority may be queued already.',
    role: 'admin',
    body: Share,
    responses: { 200: wrapped(Share) },
    errors: ['conflict'],
  },
  async ({ store }, { body }) => {
    if (await store.shares.set(body)) return { data: body }
    throw new AppError('conflict', '1,000 owners have a weight: set one of them to 1 first')
  },
)
