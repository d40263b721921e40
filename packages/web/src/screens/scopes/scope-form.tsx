import { useAct } from '../../api/act.ts'
import { limitsOfLines } from '@scanfarm/client'
import { useQuery } from '@tanstack/react-query'
import { workspaceNamesQuery } from '../../api/findings.ts'
import { changeScope, createScope, type Scope } from '../../api/scopes.ts'
import {
  Combobox,
  Field,
  Form,
  FormActions,
  linesOf,
  SelectField,
  localTimeOf,
  TextField,
  timeOfLocal,
  toast,
} from '../../ui/index.ts'
import { LimitsField } from './limits-form.tsx'

type Window = Scope['windows'][number]

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')]

export const windowText = ({ days, from, to }: Window): string =>
  `${days === undefined ? '' : `${days.join(',')} `}${from}-${to}`

/** The API says what is wrong with days and times. */
const windowOf = (line: string): Window => {
  const [, days, from, to] = /^(?:([a-z, ]+?)\s+)?([\d:]+)\s*-\s*([\d:]+)$/i.exec(line) ?? []
  if (from === undefined || to === undefined)
    throw new Error(`Write the window "${line}" like 22:00-06:00 or mon,tue 22:00-06:00.`)
  return {
    ...(days === undefined ? {} : { days: days.toLowerCase().split(/[\s,]+/) as Window['days'] }),
    from,
    to,
  }
}

/** What was not changed keeps its seconds. */
const timeOf = (text: string | undefined, before: string | null = null): string | null =>
  text === localTimeOf(before) ? before : timeOfLocal(text) || null

const bodyOf = (values: Readonly<Record<string, string>>, before?: Scope) => ({
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
  limits: limitsOfLines(linesOf(values['limits'])),
  enforcement: values['enforcement'] === 'kernel' ? ('kernel' as const) : ('checked' as const),
})

/** A new scope, or all fields of one. */
export const ScopeForm = ({ scope, onDone }: { scope?: Scope; onDone: () => void }) => {
  const { data: workspaces = [] } = useQuery(workspaceNamesQuery)
  const send = async (values: Readonly<Record<string, string>>) => {
    const body = bodyOf(values, scope)
    return scope === undefined ? createScope(body) : changeScope(scope.name, body)
  }
  const save = useAct(send, {
    refresh: ['scopes'],
    done: ({ data: { name } }) => {
      toast(`The scope ${name} is saved.`)
      onDone()
    },
  })
  const entries = 'A host, *.domain, network, range of addresses or URL prefix, also with :PORTS; * is all.'
  return (
    <Form error={save.error} onSubmit={(values) => save.mutate(values)}>
      <div className="field-row">
        <Field name="name" label="Name" defaultValue={scope?.name} required />
        <Field name="owner" label="Owner" defaultValue={scope?.owner} placeholder="who answers for it" />
      </div>
      <div className="field-row">
        <TextField
          name="allowed"
          label="Allowed, one a line"
          hint={entries}
          placeholder={'*.shop.example\n10.0.0.0/8'}
          defaultValue={scope?.allowed.join('\n')}
          required
        />
        <TextField
          name="denied"
          label="Denied, one a line; wins over what is allowed"
          hint="A host also denies what is below it."
          defaultValue={scope?.denied.join('\n')}
        />
      </div>
      <div className="field-row">
        <Field
          name="valid_from"
          label="Valid from (empty: always)"
          type="datetime-local"
          defaultValue={localTimeOf(scope?.valid_from)}
        />
        <Field
          name="valid_until"
          label="Valid until (empty: no end)"
          type="datetime-local"
          defaultValue={localTimeOf(scope?.valid_until)}
        />
      </div>
      <div className="field-row">
        <TextField
          name="windows"
          label="When runs may scan, one window a line"
          hint="None: always. Other runs wait for the next window."
          placeholder="mon,tue,wed 22:00-06:00"
          rows={3}
          defaultValue={scope?.windows.map(windowText).join('\n')}
        />
        <Combobox
          name="zone"
          label="Time zone of the windows"
          suggestions={ZONES}
          defaultValue={scope?.zone ?? 'UTC'}
        />
      </div>
      <LimitsField label="Limits of its runs, one a line" limits={scope?.limits} />
      <SelectField
        name="enforcement"
        label="Packets of commands"
        options={[
          { value: 'checked', label: 'forbidden ones are dropped where a worker can' },
          { value: 'kernel', label: 'only workers that drop all that is not allowed' },
        ]}
        defaultValue={scope?.enforcement}
      />
      <TextField
        name="workspaces"
        label="Workspaces, one a line: all their runs keep to the scope"
        hint={workspaces.length === 0 ? undefined : `Known: ${workspaces.slice(0, 20).join(', ')}`}
        rows={3}
        defaultValue={scope?.workspaces.join('\n')}
      />
      <TextField name="note" label="Note" rows={2} defaultValue={scope?.note} />
      <FormActions call={save} onBack={onDone} action={scope === undefined ? 'Create' : 'Save'} />
    </Form>
  )
}
