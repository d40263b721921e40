import type { ItemOf } from '@scanfarm/client'
import type { QueryOf } from '../client/api.ts'
import { inColumns, PAGE } from '../client/page.ts'
import { verb } from '../client/verb.ts'
import { listingNoun } from '../noun.ts'

const listCommand = verb('list', 'List the workflows that the server can start.', {
  fields: {
    kind: ['--kind <kind>', 'flow or module'],
    search: ['--search <text>', 'part of the name or the description'],
    ...PAGE,
  },
  call: ({ GET }, query: QueryOf<'/workflows'>) => GET('/workflows', { params: { query } }),
  print: inColumns<ItemOf<'/workflows'>>([
    { title: 'NAME', value: (workflow) => workflow.name },
    { title: 'KIND', value: (workflow) => workflow.kind },
    { title: 'VALID', value: (workflow) => (workflow.valid ? 'yes' : 'no') },
    { title: 'DESCRIPTION', value: (workflow) => workflow.description },
  ]),
})

export const workflowsCommand = listingNoun('workflows', listCommand)
