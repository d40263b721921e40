import { answer, api } from '../../api/client.ts'
import type { DataOf } from '../../api/list.ts'
import { rulesQuery } from '../../api/rules.ts'
import {
  useWholeList,
  column,
  Confirm,
  deletion,
  DataTable,
  Opener,
  Page,
  plural,
  Time,
} from '../../ui/index.ts'
import { AddRule } from './add-rule.tsx'

const fieldsText = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`)
    .join(' · ')
    .replaceAll('_', ' ')

/** Rules that decide about findings, in the order in which they apply. */
export const Screen = () => {
  return (
    <Page
      title="Rules"
      commands={[{ title: 'List the rules', api: ['GET', '/finding-rules'] }]}
      actions={
        <Opener kind="primary" needs="operator" label="New rule">
          {(close) => <AddRule onClose={close} />}
        </Opener>
      }
    >
      <p className="muted">
        Rules decide about present and future findings, the first one that sets a field wins. What a person
        decides about a finding wins over rules.
      </p>
      <DataTable<DataOf<typeof rulesQuery>[number]>
        label="Rules"
        list={useWholeList(rulesQuery)}
        keyOf={({ id }) => String(id)}
        columns={[
          column('name', 'Name', 'minmax(120px, 1fr)', ({ name }) => <strong>{name}</strong>),
          column('match', 'Matches', 'minmax(180px, 2fr)', ({ match }) => (
            <span title={fieldsText(match)}>{fieldsText(match)}</span>
          )),
          column('set', 'Sets', 'minmax(180px, 2fr)', ({ set }) => (
            <span title={fieldsText(set)}>{fieldsText(set)}</span>
          )),
          column('findings', 'Findings', { width: '76px', align: 'end' }, ({ findings }) =>
            findings.toLocaleString(),
          ),
          column('by', 'By', '110px', ({ created_by }) => created_by.replace(':', ' ')),
          column('changed', 'Changed', '84px', ({ updated_at }) => <Time at={updated_at} />),
          column('actions', 'Actions', '90px', ({ id, name }) => (
            <Confirm
              {...deletion('rule', name, 'Remove')}
              needs="operator"
              refresh={['finding-rules', 'findings', 'finding', 'counts']}
              onConfirm={async () => {
                const params = { path: { rule: String(id) } }
                const { changed } = await answer(api.DELETE('/finding-rules/{rule}', { params }))
                return `Removed; ${plural(changed, 'finding')} changed.`
              }}
              text="What it set is taken back; decisions of people stay."
            />
          )),
        ]}
        none="No rules"
        advice="A rule marks findings as false positives, accepts them until a date, or sets severity, tags and assignee."
      />
    </Page>
  )
}
