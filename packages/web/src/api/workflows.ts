import { queryOptions } from '@tanstack/react-query'
import type { paths } from '@scanfarm/client'
import { answer, api, type Schemas } from './client.ts'
import { offsetQuery } from './list.ts'

export type WorkflowFilters = NonNullable<paths['/workflows']['get']['parameters']['query']>
export type Workflow = Schemas['WorkflowSummary']
export type Problem = Schemas['WorkflowProblem']
export type Graph = Schemas['WorkflowGraph']
export type GraphNode = Graph['nodes'][number]
export type StartRequest = Schemas['CreateRuns']

const PAGE = 100

export const workflowsQuery = (filters: WorkflowFilters) =>
  offsetQuery(['workflows', filters], (offset) =>
    answer(api.GET('/workflows', { params: { query: { ...filters, offset, limit: PAGE } } })),
  )

/** Most names that an input suggests. */
const MANY = 1_000

export const workflowNamesQuery = queryOptions({
  queryKey: ['workflows', 'names'],
  queryFn: async () =>
    (await answer(api.GET('/workflows', { params: { query: { limit: MANY } } }))).data.map(
      ({ name }) => name,
    ),
})

export const tagsQuery = queryOptions({
  queryKey: ['workflows', 'tags'],
  queryFn: async () => (await answer(api.GET('/workflows/tags'))).tags,
})

export const workflowQuery = (name: string) =>
  queryOptions({
    queryKey: ['workflow', name],
    queryFn: async () =>
      (await answer(api.GET('/workflows/{name}/graph', { params: { path: { name } } }))).data,
  })

export type WorkflowPage = Awaited<
  ReturnType<NonNullable<ReturnType<typeof workflowQuery>['queryFn'] & object>>
>

/** Ended and failed runs of the last day, for the ten workflows with most failed runs. */
export const failingQuery = queryOptions({
  queryKey: ['overview', 'failing'],
  queryFn: () => answer(api.GET('/stats/overview')),
})

const formOf = (file: File): FormData => {
  const form = new FormData()
  form.append('file', file, file.name)
  return form
}

/** The client's types describe a file as text. */
const fileBody = (file: File) => ({ body: { file: '' }, bodySerializer: () => formOf(file) })

export const lintWorkflow = (file: File, signal?: AbortSignal) =>
  answer(
    api.POST('/workflows/lint', {
      params: { query: { graph: true } },
      body: '',
      bodySerializer: () => formOf(file),
      signal,
    }),
  )

export const uploadWorkflow = (file: File) => answer(api.POST('/workflow-upload', fileBody(file)))

export const uploadTargets = (file: File) => answer(api.POST('/upload-file', fileBody(file)))

export const startRuns = (body: StartRequest) => answer(api.POST('/runs', { body }))

export const providersQuery = queryOptions({
  queryKey: ['cloud', 'providers'],
  queryFn: () => answer(api.GET('/cloud/providers')),
})
