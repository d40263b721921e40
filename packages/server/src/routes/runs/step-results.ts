import { Step, type StepStatus } from '@scanfarm/contracts'
import { NEWEST_RUNS } from '@scanfarm/store'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { pages } from '../../http/paging.ts'
import { aliased, List, nameList, wordsOf, WordList } from '../query.ts'

const WORDS = ['pending', 'running', 'completed', 'success', 'failed', 'skipped', 'cancelled'] as const
const statusesOf = (text: string | undefined): StepStatus[] | undefined =>
  wordsOf('status', text, WORDS)?.map((word) => (word === 'success' ? 'completed' : word))

export const listStepResults = route(
  {
    endpoint: 'GET /step-results',
    summary: 'List the steps of several runs',
    description: `Newest runs first, with the steps of the latest attempt in order. Only the newest ${NEWEST_RUNS} runs that match workspace and run are read.`,
    role: 'viewer',
    ...pages(Step, {
      workspace: List('Exact names, separated by commas'),
      status: WordList(WORDS, 'One or more, separated by commas; success is an alias of completed'),
      step_type: List('Exact types, for example bash, separated by commas'),
      run_uuid: Type.Optional(Type.String({ description: 'Number or run_uuid of the run' })),
      run_id: Type.Optional(Type.String({ description: 'Alias of run_uuid' })),
    }),
  },
  async ({ store }, { query, page }) => {
    const filter = {
      workspaces: nameList(query.workspace),
      statuses: statusesOf(query.status),
      types: nameList(query.step_type),
      run: aliased(query, 'run_uuid', 'run_id'),
    }
    return await store.runs.stepResults(filter, page)
  },
)
