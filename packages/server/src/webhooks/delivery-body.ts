import type { EventLogEntry, WebhookFormat } from '@scanfarm/store'
import { dataOf } from '../triggers/trigger-registry.ts'

/** Message limits of the two services. */
const SLACK_CHARS = 3_000
const DISCORD_CHARS = 2_000

/** The request body for an event; the same for every attempt. */
export const bodyOf = (event: EventLogEntry, format: WebhookFormat): string => {
  switch (format) {
    case 'json':
      return JSON.stringify({
        id: event.event_id,
        topic: event.topic,
        name: event.name,
        source: event.source,
        data_type: event.data_type,
        data: dataOf(event.data),
        workspace: event.workspace,
        run_id: event.run_id,
        workflow_name: event.workflow_name,
        created_at: event.created_at,
      })
    case 'slack':
      return JSON.stringify({ text: forSlack(lineOf(event)).slice(0, SLACK_CHARS) })
    case 'discord':
      return JSON.stringify({
        content: forDiscord(lineOf(event)).slice(0, DISCORD_CHARS),
        allowed_mentions: { parse: [] },
      })
  }
}

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

/** A one-line summary: the topic and the important data. */
const lineOf = ({ topic, name, data, workflow_name }: EventLogEntry): string => {
  const values = dataOf(data)
  const parts = TOLD.flatMap((key) => {
    const value = Object.hasOwn(values, key) ? values[key] : undefined
    return typeof value === 'string' && value !== '' ? [`${key}: ${value}`] : []
  })
  const about = parts.length > 0 ? parts.join(', ') : workflow_name
  return [topic, name === topic ? '' : name, about].filter((part) => part !== '').join(' | ')
}

const forSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const forDiscord = (text: string): string => text.replaceAll(/[\\*_~`|<>[\]()#-]/g, '\\$&')
