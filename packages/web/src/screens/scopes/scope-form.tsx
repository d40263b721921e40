import { useQuery } from '@tanstack/react-query'
import { answer, api, byName } from '../../api/client.ts'
import { workspaceNamesQuery } from '../../api/findings.ts'
import { type Scope } from '../../api/scopes.ts'
import {
  choice,
  FormDialog,
  lines,
  linesOf,
  localTimeOf,
  suggest,
  text,
  textsOf,
  timeOfLocal,
  type FieldRow,
  type Texts,
} from '../../ui/index.ts'
import { limitsField, limitsOf, limitsText } from './limits-form.tsx'

type Window = Scope['windows'][number]

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')]

export const windowText = ({ days, from, to }: Window): string =>
  `${days === undefined ? '' : `${days.join(',')} `}${from}-${to}`

/** The API says what is wrong with days and times. */
const windowOf = (line: string): Window => {
  const [, days, from, to] = /^(?:([a-z, ]+?)\s+)?(\d\d:\d\d)\s*-\s*(\d\d:\d\d)$/i.exec(line) ?? []
  if (from === undefined || to === undefined)
    throw new Error(`Write the window "${line}" like 22:00-06:00 or mon,tue 22:00-06:00.`)
  return {
    ...(days === undefined ? {} : { days: days.toLowerCase().split(/[\s,]+/) as Window['days'] }),
    from,
    to,
  }
}

/** What was not changed keeps its seconds. */
const timeOf = (local: string | undefined, before: string | null = null): string | null =>
  local === localTimeOf(before) ? before : timeOfLocal(local) || null

const bodyOf = (values: Texts, before?: Scope) => ({
  name: (values['name'] ?? '').trim(),
  allowed: linesOf(values['allowed']),
  denied: linesOf(values['denied']),
  owner: (values['owner'] ?? '').trim(),
  note: values['note'] ?? '',
  valid_from: timeOf(values['valid_from'], before?.valid_from),
  valid_until: timeOf(values['valid_until'], before?.valid_until),
  windows: linesOf(values['windows']).map(windowOf),
  zone: (values['zone'] ?? '').trim() || 'UTC',
  workspaces: linesOf(values['workspaces']),
  limits: limitsOf(values['limits']),
  enforcement: values['enforcement'] === 'kernel' ? ('kernel' as const) : ('checked' as const),
})

const initialTexts = (scope: Scope | undefined): Texts => ({
  zone: 'UTC',
  ...textsOf(scope),
  valid_from: localTimeOf(scope?.valid_from),
  valid_until: localTimeOf(scope?.valid_until),
  windows: (scope?.windows ?? []).map(windowText).join('\n'),
  limits: limitsText(scope?.limits),
})

const fieldsOf = (workspaces: readonly string[]): readonly FieldRow[] => [
  [text('name', 'Name', { required: true }), text('owner', 'Owner', { placeholder: 'who answers for it' })],
  [
    lines('allowed', 'Allowed, one a line', {
      hint: 'A host, *.domain, network, range of addresses or URL prefix, also with :PORTS; * is all.',
      placeholder: '*.shop.example\n10.0.0.0/8',
      required: true,
    }),
    lines('denied', 'Denied, one a line; wins over what is allowed', {
      hint: 'A host also denies what is below it.',
    }),
  ],
  [
    text('valid_from', 'Valid from (empty: always)', { type: 'datetime-local' }),
    text('valid_until', 'Valid until (empty: no end)', { type: 'datetime-local' }),
  ],
  [
    lines('windows', 'When runs may scan, one window a line', {
      hint: 'None: always. Other runs wait for the next window.',
      placeholder: 'mon,tue,wed 22:00-06:00',
      rows: 3,
    }),
    suggest('zone', 'Time zone of the windows', ZONES),
  ],
  [limitsField('Limits of its runs, one a line')],
  [
    choice('enforcement', 'Packets of commands', [
      { value: 'checked', label: 'forbidden ones are dropped where a worker can' },
      { value: 'kernel', label: 'only workers that drop all that is not allowed' },
    ]),
  ],
  [
    lines('workspaces', 'Workspaces, one a line: all their runs keep to the scope', {
      hint: workspaces.length === 0 ? undefined : `Known: ${workspaces.slice(0, 20).join(', ')}`,
      rows: 3,
    }),
  ],
  [lines('note', 'Note', { rows: 2 })],
]

/** A new scope, or all fields of one. */
export const ScopeForm = ({ scope, onClose }: { scope?: Scope; onClose: () => void }) => {
  const { data: workspaces = [] } = useQuery(workspaceNamesQuery)
  return (
    <FormDialog
      wide
      keep
      onClose={onClose}
      title={scope ? `Edit the scope ${scope.name}` : 'New scope'}
      fields={fieldsOf(workspaces)}
      values={initialTexts(scope)}
      action={scope ? 'Save' : 'Create'}
      refresh={['scopes']}
      send={async (values) => {
        const body = bodyOf(values, scope)
        const { data } = await answer(
          scope
            ? api.PATCH('/scopes/{name}', { ...byName(scope.name), body })
            : api.POST('/scopes', { body }),
        )
        return `The scope ${data.name} is saved.`
      }}
    />
  )
}
