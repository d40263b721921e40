import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRefusal } from '../../api/role.ts'
import { removeRule, rulesQuery } from '../../api/rules.ts'
import { Commands, Confirm, DataTable, EmptyState, Page, Time, toast, plural } from '../../ui/index.ts'
import { AddRuleButton } from './add-rule.tsx'

const fieldsText = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`)
    .join(' · ')
    .replaceAll('_', ' ')

/** Rules that decide about findings, in the order in which they apply. */
export const Screen = () => {
  const { data, error, refetch } = useQuery(rulesQuery)
  const queries = useQueryClient()
  const refusal = useRefusal('operator')
  return (
    <Page
      title="Rules"
      actions={
        <>
          <Commands lines={[{ title: 'List the rules', api: ['GET', '/finding-rules'] }]} />
          <AddRuleButton refusal={refusal} />
        </>
      }
    >
      <p className="muted">
        Rules decide about present and future findings, the first one that sets a field wins. What a person
        decides about a finding wins over rules.
      </p>
      <DataTable
        label="Rules"
        list={{ rows: data, total: data?.length, error, retry: () => void refetch() }}
        keyOf={({ id }) => String(id)}
        columns={[
          {
            id: 'name',
            label: 'Name',
            width: 'minmax(120px, 1fr)',
            cell: ({ name }) => <strong>{name}</strong>,
          },
          {
            id: 'match',
            label: 'Matches',
            width: 'minmax(180px, 2fr)',
            cell: ({ match }) => <span title={fieldsText(match)}>{fieldsText(match)}</span>,
          },
          {
            id: 'set',
            label: 'Sets',
            width: 'minmax(180px, 2fr)',
            cell: ({ set }) => <span title={fieldsText(set)}>{fieldsText(set)}</span>,
          },
          {
            id: 'findings',
            label: 'Findings',
            width: '76px',
            align: 'end',
            cell: ({ findings }) => findings.toLocaleString(),
          },
          { id: 'by', label: 'By', width: '110px', cell: ({ created_by }) => created_by.replace(':', ' ') },
          {
            id: 'changed',
            label: 'Changed',
            width: '84px',
            cell: ({ updated_at }) => <Time at={updated_at} />,
          },
          {
            id: 'actions',
            label: 'Actions',
            width: '90px',
            cell: ({ id, name }) => (
              <Confirm
                trigger="Remove"
                title={`Remove the rule ${name}?`}
                action="Remove the rule"
                danger
                refusal={refusal}
                onConfirm={async () => {
                  const { changed } = await removeRule(id)
                  toast(`Removed; ${plural(changed, 'finding')} changed.`)
                  for (const key of ['finding-rules', 'findings', 'finding', 'counts'])
                    await queries.invalidateQueries({ queryKey: [key] })
                }}
              >
                <p>What it set is taken back; decisions of people stay.</p>
              </Confirm>
            ),
          },
        ]}
        empty={
          <EmptyState title="No rules">
            A rule marks findings as false positives, accepts them until a date, or sets severity, tags and
            assignee.
          </EmptyState>
        }
      />
    </Page>
  )
}
