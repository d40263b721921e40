import type { Entry, Facts } from './schema.ts'

type Ended = Facts['targets']['refused']

const REPORTS: Readonly<Record<Ended['report'], string>> = {
  complete: 'a report that looks complete',
  error: 'a report that names the problem',
  cut: 'a report that is cut off',
  none: 'no report',
}

const endText = ({ exit, report }: Ended): string =>
  `${exit === 'running' ? 'still runs' : `exit code ${exit}`}, ${REPORTS[report]}`

const stopText = (stopped: Facts['stop']['term']): string => {
  const { seconds, leaves = [] } = stopped
  return `${endText(stopped)}, after ${seconds} s${leaves.length > 0 ? `; leaves ${leaves.join(' and ')} running` : ''}`
}

const rateText = (limit: string, { rate }: Facts): string => {
  if (rate === undefined) return limit === '' ? 'no flag limits it' : `\`${limit}\``
  const { of, factor, extra = 0 } = rate
  return `\`${limit}\`: ${factor} times as many ${of}${extra > 0 ? ` and ${extra} more` : ''} in the worst second`
}

/** What a tool that was tried does, as names and texts in Markdown. */
export const factTexts = ({
  limit = '',
  proxy,
  facts,
}: Pick<Entry, 'limit' | 'proxy' | 'facts'>): readonly (readonly [name: string, text: string])[] => {
  if (facts === undefined) return []
  const { connections, requests, redirects, contacts, targets, stop, notes = [] } = facts
  const forbid = redirects.forbid === undefined ? '' : `; \`${redirects.forbid}\` forbids it`
  return [
    ['version tried', facts.tried],
    ['limit', rateText(limit, facts)],
    ['without a limit, in a second', `${connections} connections, ${requests} requests to a service`],
    ['proxy', proxy === undefined ? 'none' : `\`${proxy}\``],
    ['redirects to other hosts', redirects.follows ? `follows${forbid}` : 'does not follow'],
    [
      'looks up by itself',
      contacts
        .map(({ name, avoid }) => (avoid === undefined ? name : `${name} (avoided by \`${avoid}\`)`))
        .join(', ') || 'nothing',
    ],
    ['target refuses', endText(targets.refused)],
    ['target is gone', endText(targets.gone)],
    [
      'name has no address',
      targets.unresolved === undefined ? 'takes no names' : endText(targets.unresolved),
    ],
    ['SIGTERM', stopText(stop.term)],
    ['SIGINT', stopText(stop.int)],
    ...notes.map((note) => ['remark', note] as const),
  ]
}
