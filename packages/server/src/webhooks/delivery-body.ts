import { plural, type EventLogEntry, type WebhookSubscription } from '@scanfarm/contracts'
import type { Json } from '@scanfarm/language'
import { dataOf } from '../triggers/trigger-registry.ts'

/**
 * What the services take, in characters. Teams takes 28 KB, of which a character takes up to six. Discord reads an empty
 * message as an error.
 */
const SLACK_CHARS = 3_000
const DISCORD_CHARS = 2_000
const TEAMS_CHARS = 4_000
/** Of a message in Discord: no previews of links, which others may have chosen. */
const SUPPRESS_EMBEDS = 4

/**
 * The request body for an event; the same for every attempt. `data` is JSON text, as in the event log. `publicUrl` is
 * the address of the console for links, or "". `text` replaces the usual text of a message.
 */
export const bodyOf = (
  event: EventLogEntry,
  format: Exclude<WebhookSubscription['format'], 'mail'>,
  publicUrl = '',
  text?: string,
): string => {
  switch (format) {
    case 'json':
      return JSON.stringify({
        id: event.event_id,
        topic: event.topic,
        name: event.name,
        source: event.source,
        data_type: event.data_type,
        data: event.data,
        workspace: event.workspace,
        run_id: event.run_id,
        workflow_name: event.workflow_name,
        created_at: event.created_at,
      })
    case 'slack':
      return JSON.stringify({
        text: fitted(text ?? lineOf(event, publicUrl), SLACK_CHARS, forSlack),
        unfurl_links: false,
        unfurl_media: false,
      })
    case 'discord':
      return JSON.stringify({
        content: fitted(text ?? lineOf(event, publicUrl), DISCORD_CHARS, forDiscord),
        allowed_mentions: { parse: [] },
        flags: SUPPRESS_EMBEDS,
      })
    case 'teams':
      return JSON.stringify(cardOf(text ?? lineOf(event, ''), linkOf(dataOf(event.data), publicUrl)))
  }
}

/** A message of Teams with an Adaptive Card. A URL in its text is no link, a button is. */
const cardOf = (text: string, link: string) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        body: [{ type: 'TextBlock', wrap: true, text: fitted(text, TEAMS_CHARS, forTeams) }],
        ...(link !== '' && { actions: [{ type: 'Action.OpenUrl', title: 'Open in Scanfarm', url: link }] }),
      },
    },
  ],
})

const URL_OR_LETTER = /https?:\/\/[^\s<>]+|[^]/gu

/** The text, escaped, as far as it fits. Neither a URL nor an escaped character is cut. */
const fitted = (text: string, most: number, escaped: (part: string) => string): string => {
  let fits = ''
  for (const [part] of text.toWellFormed().matchAll(URL_OR_LETTER)) {
    const next = escaped(part)
    if (fits.length + next.length >= most) return `${fits}…`
    fits += next
  }
  return fits
}

/** The subject and the text of a mail about an event. */
export const mailOf = (
  event: EventLogEntry,
  publicUrl: string,
  written?: string,
): { subject: string; text: string } => {
  const [usual = '', ...worst] = lineOf(event, publicUrl).split('\n')
  const [head = '', ...more] = written?.split('\n') ?? [...usual.split(' | '), ...worst]
  return { subject: `Scanfarm: ${head}`.slice(0, SUBJECT_CHARS), text: `${[head, ...more].join('\n')}\n` }
}

const SUBJECT_CHARS = 200

const TOLD = [
  'workflow',
  'target',
  'status',
  'outcome',
  'step_name',
  'severity',
  'vuln_title',
  'asset_value',
  'error_message',
]

/** A one-line summary: the topic and the important data. A night has lines after it. */
const lineOf = ({ topic, name, data, workflow_name }: EventLogEntry, publicUrl: string): string => {
  const values = dataOf(data)
  if (NIGHTS.has(topic)) return nightOf(values, workflow_name, publicUrl)
  if (topic === 'findings.reminder') return reminderOf(values, publicUrl)
  const parts = TOLD.flatMap((key) => {
    const value = Object.hasOwn(values, key) ? values[key] : undefined
    return typeof value === 'string' && value !== '' ? [`${key}: ${value}`] : []
  })
  const about = parts.length > 0 ? parts.join(', ') : workflow_name
  return [topic, name === topic ? '' : name, about].filter((part) => part !== '').join(' | ')
}

type Values = Readonly<Record<string, Json>>
type Counts = Readonly<Record<string, number>>

const NIGHTS: ReadonlySet<string> = new Set(['job.ended', 'schedule.ended', 'findings.digest'])
const WORST_FIRST = ['critical', 'high', 'medium', 'low', 'info']
const OUTCOMES = ['clean', 'partial', 'nothing_done']

/**
 * `nightly ended: 3 new (1 critical, 2 low), 0 back, 4 gone, 1 not tested (1 high) | 10 runs: 9 clean, 1 nothing done | URL`,
 * and a line for each of the worst findings, and of the targets whose runs did not do all of their work.
 */
const nightOf = (values: Values, workflow: string, publicUrl: string): string => {
  const [runs, found] = [countsIn(values['runs']), objectIn(values['findings'])]
  const findings = ['new', 'back', 'gone', 'not_tested'].flatMap((kind) => {
    const counts = countsIn(found[kind])
    const parts = WORST_FIRST.flatMap((word) => (counts[word] ? [`${counts[word]} ${word}`] : []))
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    if (kind === 'not_tested' && total === 0) return []
    return [`${total} ${kind.replace('_', ' ')}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`]
  })
  const outcomes = OUTCOMES.flatMap((word) => (runs[word] ? [`${runs[word]} ${word.replace('_', ' ')}`] : []))
  const name = textIn(values['schedule']) || textIn(values['title']) || workflow
  const line = [
    `${name} ${values['is_cancelled'] === true ? 'was cancelled' : 'ended'}: ${findings.join(', ')}`,
    `${plural(runs['total'] ?? 0, 'run')}${outcomes.length > 0 ? `: ${outcomes.join(', ')}` : ''}`,
    linkOf(values, publicUrl),
  ].filter((part) => part !== '')
  return [line.join(' | '), ...worstOf(values, found), ...uncleanOf(values, runs)].join('\n')
}

/** `critical: Redis without a password at h:6379`, `high, back: …`, `and 12 more`. The texts come from scanned machines. */
const worstOf = ({ worst }: Values, found: Values): string[] => {
  const total = ['new', 'back'].flatMap((key) => Object.values(countsIn(found[key])))
  const sum = total.reduce((before, count) => before + count, 0)
  return fiveOf(worst, sum, 'more', ({ kind, severity, title, place }) => {
    const [what, where] = [shortTextIn(title), shortTextIn(place)]
    const head = `${shortTextIn(severity)}${kind === 'back' ? ', back' : ''}`
    return what === '' ? '' : `${head}: ${what}${where === '' ? '' : ` at ${where}`}`
  })
}

/** `nothing done: 10.0.0.9, 3 jobs: the host does not answer`, `partial: …`, `and 3 more not done`. */
const uncleanOf = ({ unclean }: Values, { partial = 0, nothing_done: nothing = 0 }: Counts): string[] =>
  fiveOf(unclean, partial + nothing, 'more not done', ({ target, status, outcome, reason, jobs }) => {
    const end = shortTextIn(status === 'completed' ? outcome : status).replace('_', ' ')
    const where = [shortTextIn(target), jobsIn(jobs) > 1 ? plural(jobsIn(jobs), 'job') : '']
    const parts = [end, where.filter((part) => part !== '').join(', '), shortTextIn(reason)]
    return parts.filter((part) => part !== '').join(': ')
  })

/** How many jobs a line of a digest stands for. */
const jobsIn = (value: Json | undefined): number => (typeof value === 'number' ? value : 1)

/** The first of a list as lines, and how many of all are left out. */
const fiveOf = (
  list: Json | undefined,
  all: number,
  words: string,
  lineOf: (one: Values) => string,
): string[] => {
  const first = (Array.isArray(list) ? list : []).slice(0, 5).map(objectIn)
  const told = first.filter((one) => lineOf(one) !== '')
  const left = all - told.reduce((sum, { jobs }) => sum + jobsIn(jobs), 0)
  return [...told.map(lineOf), ...(told.length === 0 || left <= 0 ? [] : [`and ${left} ${words}`])]
}

const shortTextIn = (value: Json | undefined): string => {
  const text = textIn(value)
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

/** `3 findings are open | 1 critical, the oldest for 9 days | 2 low, the oldest for 40 days | URL` */
const reminderOf = (values: Values, publicUrl: string): string => {
  const [open, days] = [countsIn(values['open']), countsIn(values['oldest_days'])]
  const total = Object.values(open).reduce((sum, count) => sum + count, 0)
  const age = (count = 0): string => (count === 0 ? 'less than a day' : plural(count, 'day'))
  const parts = WORST_FIRST.flatMap((word) =>
    open[word] ? [`${open[word]} ${word}, the oldest for ${age(days[word])}`] : [],
  )
  const link = linkOf(values, publicUrl)
  return [
    `${plural(total, 'finding')} ${total === 1 ? 'is' : 'are'} open`,
    ...parts,
    ...(link === '' ? [] : [link]),
  ].join(' | ')
}

const linkOf = ({ path }: Values, publicUrl: string): string =>
  publicUrl === '' ? '' : `${publicUrl.replace(/\/$/, '')}${textIn(path).startsWith('/') ? textIn(path) : ''}`

/** Any operator can emit these topics with other data. */
export const objectIn = (value: Json | undefined): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}

export const countsIn = (value: Json | undefined): Counts =>
  Object.fromEntries(
    Object.entries(objectIn(value)).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    ),
  )

const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

const forSlack = (part: string): string =>
  part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** In a URL Discord reads no markup, and a backslash would be a part of it. */
const forDiscord = (part: string): string => (/^[\\*_~`|<>[\]()#-]$/.test(part) ? `\\${part}` : part)

/** A text block reads a part of Markdown, in which one line break is a blank. */
const forTeams = (part: string): string => part.replaceAll(/[\\*_[\]]/g, '\\$&').replaceAll('\n', '\n\n')
