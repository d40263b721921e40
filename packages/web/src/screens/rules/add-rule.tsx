import { answer, api } from '../../api/client.ts'
import { useAct } from '../../api/act.ts'
import { useState } from 'react'
import { SEVERITIES } from '../../api/findings.ts'
import { previewRule, type NewRule } from '../../api/rules.ts'
import {
  choice,
  Fields,
  itemsOf,
  text,
  type FieldRow,
  type Texts,
  Dialog,
  Form,
  FormActions,
  Link,
  plural,
  toast,
} from '../../ui/index.ts'

const MATCHES: readonly FieldRow[] = [
  [
    text('check', 'Check', { hint: 'Like CVE-2026-* or ssl-*' }),
    text('title', 'Title'),
    text('asset', 'Asset', { hint: 'Like *.test.example, or 10.0.0.0/8' }),
  ],
  [
    text('workspace', 'Workspace'),
    text('severity', 'Severities of the scanner', { hint: 'Separated by commas' }),
    text('tool', 'Tool'),
  ],
]
const SETS: readonly FieldRow[] = [
  [
    choice(
      'verdict',
      'Verdict',
      ['confirmed', { value: 'false_positive', label: 'false positive' }, 'accepted'],
      { none: 'no verdict' },
    ),
    text('until', 'Accepted until', { type: 'date' }),
    text('reason', 'Reason'),
  ],
  [
    choice('newSeverity', 'Severity', SEVERITIES, { none: 'as the scanner reports it' }),
    text('assignee', 'Assignee'),
    text('tags', 'Tags', { hint: 'Separated by commas' }),
  ],
]

/** Without the fields that were left empty. */
const given = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value !== '')),
  ) as Partial<T>

const ruleOf = (values: Texts): NewRule => {
  const { name = '', check = '', title = '', asset = '', workspace = '', tool = '', severity = '' } = values
  const { verdict = '', reason = '', until = '', newSeverity = '', assignee = '', tags = '' } = values
  return {
    name: name.trim(),
    match: given({ check, title, asset, workspace, tool, severity: itemsOf(severity) }) as NewRule['match'],
    set: given({
      verdict,
      reason,
      until: verdict === 'accepted' ? until : '',
      severity: newSeverity,
      assignee,
      tags: itemsOf(tags),
    }) as NewRule['set'],
  }
}

type Side = Awaited<ReturnType<typeof previewRule>>['findings'][number]['after']

/** `verdict none → false positive, assignee none → ann`: what stays is left out. */
const changeText = (before: Side, after: Side): string =>
  (['verdict', 'severity', 'assignee', 'tags'] as const)
    .flatMap((field) => {
      const [was, is] = [before, after].map((side) => [side[field]].flat().join(', ').replaceAll('_', ' '))
      return was === is ? [] : [`${field} ${was || 'none'} → ${is || 'none'}`]
    })
    .join('; ') || `decided by ${after.decided_by}`

/** The fields of the form may fill the screen. */
const intoView = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })

/** A new rule: what it matches, what it sets, and what it would change before it is saved. */
export const AddRule = ({ onClose }: { onClose: () => void }) => {
  const [rule, setRule] = useState<NewRule>()
  const preview = useAct(previewRule)
  const add = useAct((body: NewRule) => answer(api.POST('/finding-rules', { body })), {
    refresh: ['finding-rules', 'findings', 'finding', 'counts'],
    done: ({ changed }) => {
      toast(`The rule changed ${plural(changed, 'finding')}.`)
      onClose()
    },
  })
  const shown = preview.data
  return (
    <Dialog wide keep onClose={onClose} title="New rule">
      <Form
        error={preview.error ?? add.error}
        onSubmit={(values) => {
          const next = ruleOf(values)
          if (JSON.stringify(next) === JSON.stringify(rule) && preview.isSuccess) return add.mutate(next)
          setRule(next)
          preview.mutate(next)
        }}
      >
        <Fields rows={[[text('name', 'Name', { required: true, maxLength: 128 })]]} />
        <fieldset className="stack gap-6">
          <legend>It matches findings with all of these; * and ? stand for any text</legend>
          <Fields rows={MATCHES} />
        </fieldset>
        <fieldset className="stack gap-6">
          <legend>It sets</legend>
          <Fields rows={SETS} />
        </fieldset>
        {shown === undefined ? null : (
          <section role="status" aria-label="Preview" ref={intoView}>
            <p>
              It matches {plural(shown.matched, 'finding')} and would change {shown.changed.toLocaleString()}.
              Decisions of people stay.
            </p>
            <ul className="bullets">
              {shown.findings.slice(0, 20).map(({ id, before, after }) => (
                <li key={id}>
                  <Link href={`/findings/${id}`}>
                    {after.vuln_title || after.vuln_info || `Finding ${id}`}
                  </Link>{' '}
                  {after.asset_value}: {changeText(before, after)}
                </li>
              ))}
            </ul>
            <p className="muted">After a change the preview is shown again before the rule is saved.</p>
          </section>
        )}
        <FormActions
          call={preview.error ? preview : add}
          onBack={onClose}
          action={preview.isSuccess ? 'Save the rule' : 'Preview'}
        />
      </Form>
    </Dialog>
  )
}
