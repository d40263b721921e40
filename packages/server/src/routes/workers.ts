import { AppError, Worker } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../http/route.ts'

export const listWorkers = route(
  {
    method: 'get',
    path: '/workers',
    tag: 'Farm',
    summary: 'List the workers and the local slots of servers',
    role: 'viewer',
    responses: { 200: Type.Object({ data: Type.Array(Worker), count: Type.Integer() }) },
  },
  async ({ store }) => {
    const data = await store.workers.list()
    return { data, count: data.length }
  },
)

export const getWorker = route(
  {
    method: 'get',
    path: '/workers/{id}',
    tag: 'Farm',
    summary: 'Read one worker',
    role: 'viewer',
    params: Type.Object({ id: Type.String() }),
    responses: { 200: Type.Object({ data: Worker }) },
    errors: ['not_found'],
  },
  async ({ store }, { params }) => {
    const data = (await store.workers.list()).find(({ id }) => id === params.id)
    if (data === undefined) throw new AppError('not_found', `there is no worker ${JSON.stringify(params.id)}`)
    return { data }
  },
)
