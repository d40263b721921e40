import { answer, api, byName, type Schemas, type SearchOf } from './client.ts'
import { answerQuery, dataQuery, offsetQuery, type DataOf } from './list.ts'

export type WorkflowFilters = SearchOf<'/workflows'>
export type Workflow = Schemas['WorkflowSummary']
export type Problem = Schemas['WorkflowProblem']
export type Graph = Schemas['WorkflowGraph']
export type GraphNode = Graph['nodes'][number]
export type StartRequest = Schemas['CreateRuns']

export const workflowsQuery = (filters: WorkflowFilters) =>
  offsetQuery(['workflows', filters], (offset) =>
    api.GET('/workflows', { params: { query: { ...filters, offset, limit: 100 } } }),
  )

/** Most names that an input suggests. */
const MANY = 1_000

export const workflowNamesQuery = {
  queryKey: ['workflows', 'names'],
  queryFn: async () => {
    const { data } = await answer(api.GET('/workflows', { params: { query: { limit: MANY } } }))
    return data.map(({ name }) => name)
  },
}

export const tagsQuery = {
  queryKey: ['workflows', 'tags'],
  queryFn: async () => (await answer(api.GET('/workflows/tags'))).tags,
}

export const workflowQuery = (name: string) =>
  dataQuery(['workflow', name], () => api.GET('/workflows/{name}/graph', byName(name)))

export type WorkflowPage = DataOf<typeof workflowQuery>

/** Ended and failed runs of the last day, for the ten workflows with most failed runs. */
export const failingQuery = answerQuery(['overview', 'failing'], () => api.GET('/stats/overview'))

const formOf = (file: File): FormData => {
  const form = new FormData()
  form.append('file', file, file.name)
  return form
}

/** The client's types describe a file as text. */
const fileBody = (file: File) => ({ body: { file: '' }, bodySerializer: () => formOf(file) })

export const lintWorkflow = (file: File, signal?: AbortSignal) =>
  answer(
    api.POST('/workflows/lint', { params: { query: { graph: true } }, ...fileBody(file), body: '', signal }),
  )

export const uploadWorkflow = (file: File) => answer(api.POST('/workflow-upload', fileBody(file)))

export const uploadTargets = (file: File) => answer(api.POST('/upload-file', fileBody(file)))
