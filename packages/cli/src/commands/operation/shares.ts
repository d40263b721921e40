import { inColumns } from '../../client/page.ts'
import { dataOf, verb } from '../../client/verb.ts'
import { noun } from '../../noun.ts'
import { wholeNumber } from '../../options.ts'
import { printLine } from '../../terminal.ts'

interface Share {
  readonly owner: string
  readonly weight: number
}

const listShares = verb('list', 'List owners whose weight is not 1.', {
  call: ({ GET }) => dataOf(GET('/shares')),
  print: inColumns<Share>([
    { title: 'OWNER', value: ({ owner }) => owner },
    { title: 'WEIGHT', value: ({ weight }) => weight },
  ]),
})

const setShare = verb('set', 'Set how many shares the runs of an owner get.', {
  fields: {
    owner: ['<owner>', 'token:NAME, user:NAME or workspace:NAME'],
    weight: ['<weight>', '1 to 1000', wholeNumber],
  },
  call: ({ PUT }, body: Share) => dataOf(PUT('/shares', { body })),
  print: (terminal, _, { owner, weight }) => printLine(terminal, `${owner} has weight ${weight}`),
})

export const sharesCommand = noun('shares', 'Whose runs get more than one share of the workers.', [
  listShares,
  setShare,
])
