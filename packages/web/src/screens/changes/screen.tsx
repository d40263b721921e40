import './changes.css'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { CHANGES, changesQuery, KINDS, type Change, type Comparison, type Kind } from '../../api/assets.ts'
import { newSince } from '../../api/counts.ts'
import { workspaceNamesQuery } from '../../api/findings.ts'
import { isSettled, runQuery } from '../../api/runs.ts'
import {
  FieldsInLine,
  suggest,
  text,
  Button,
  DataTable,
  EmptyState,
  ErrorPanel,
  Field,
  Form,
  hrefWith,
  Link,
  localTimeOf,
  Page,
  RunLink,
  Severity,
  tab,
  Tabs,
  Time,
  timeOfLocal,
  useFilters,
  column,
  type Column,
} from '../../ui/index.ts'
import { NightChanges } from './nights.tsx'
import { differencesOf, type Record as Row } from './differences.ts'
import { Kinds } from './kinds.tsx'

const NAMES = ['by', 'kind', 'change', 'workspace', 'from', 'to', 'a', 'b', 'job', 'since'] as const
type Search = Readonly<Partial<Record<(typeof NAMES)[number], string>>>

const KIND_NAMES: Readonly<Record<Kind, string>> = { vulnerabilities: 'Findings', assets: 'Assets' }
const CHANGE_NAMES: Readonly<Record<Change, string>> = { new: '+ New', gone: '− Gone', changed: '± Changed' }

const comparisonOf = ({ workspace, from, to, a, b }: Search): Comparison | undefined => {
  if (a && b) return { a, b }
  return workspace && from ? { workspace, from, ...(to ? { to } : {}) } : undefined
}

const oneOf = <T extends string>(values: readonly [T, ...T[]], text: string | undefined): T =>
  values.find((value) => value === text) ?? values[0]

const localOf = (text: string | undefined): string => localTimeOf(newSince(text))

const PERIODS = [
  { label: '24 hours', from: '24h' },
  { label: '7 days', from: '7d' },
  { label: '30 days', from: '30d' },
] as const

const PeriodForm = ({ search, set }: { search: Search; set: (changes: Search) => void }) => {
  const { data: workspaces = [] } = useQuery(workspaceNamesQuery)
  const { workspace = '', from = '7d', to } = search
  const keep = { a: '', b: '' }
  return (
    <Form
      key={`${workspace} ${from} ${to}`}
      onSubmit={(values) =>
        set({
          ...keep,
          workspace: (values['workspace'] ?? '').trim(),
          from: values['from'] === localOf(from) ? from : timeOfLocal(values['from']),
          to: timeOfLocal(values['to']),
        })
      }
    >
      <div className="line form-line">
        <FieldsInLine
          fields={[
            suggest('workspace', 'Workspace', workspaces, { required: true }),
            text('from', 'From', { type: 'datetime-local', required: true }),
            text('to', 'To (empty: now)', { type: 'datetime-local' }),
          ]}
          values={{ workspace, from: localOf(from), to: localOf(to) }}
        />
        <Button type="submit" kind="primary">
          Compare
        </Button>
        {PERIODS.map((period) => (
          <Button
            key={period.from}
            kind="quiet"
            aria-pressed={from === period.from && !to}
            disabled={workspace === ''}
            onClick={() => set({ ...keep, from: period.from, to: '' })}
          >
            {period.label}
          </Button>
        ))}
      </div>
    </Form>
  )
}

const RunsForm = ({ search: { a, b }, set }: { search: Search; set: (changes: Search) => void }) => (
  <Form
    key={`${a} ${b}`}
    onSubmit={(values) => set({ a: values['a']?.trim() ?? '', b: values['b']?.trim() ?? '' })}
  >
    <div className="line form-line">
      <Field name="a" label="Earlier run (number or id)" defaultValue={a} required />
      <Field name="b" label="Later run (number or id)" defaultValue={b} required />
      <Button type="submit" kind="primary">
        Compare
      </Button>
      <Button kind="quiet" disabled={!a || !b} onClick={() => set({ a: b ?? '', b: a ?? '' })}>
        Swap
      </Button>
    </div>
  </Form>
)

const RunName = ({ id }: { id: string }) => {
  const { data: run, error } = useQuery(runQuery(id))
  if (!run) return <span className="muted">{error ? error.message : id}</span>
  return (
    <span>
      <RunLink run={run} /> · {run.workflow_name} · <Time at={run.completed_at ?? run.created_at} />
    </span>
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A field of the record, as it is or was last. */
const fieldOf = ({ after, before }: Row, name: string): string => textOf((after ?? before)?.[name])

const nameColumn = (path: string, label: string, fields: readonly string[]): Column<Row> =>
  column('name', label, 'minmax(200px, 2fr)', (row) => {
    const name = fields.map((field) => fieldOf(row, field)).find(Boolean) ?? `record ${row.id}`
    return (
      <Link href={`/${path}/${row.id}`} title={name}>
        {name}
      </Link>
    )
  })

const COLUMNS: Readonly<Record<Kind, readonly Column<Row>[]>> = {
  assets: [
    column('type', 'Type', '88px', (row) => fieldOf(row, 'asset_type')),
    nameColumn('assets', 'Asset', ['url', 'asset_value']),
  ],
  vulnerabilities: [
    column('severity', 'Severity', '88px', (row) => <Severity severity={fieldOf(row, 'severity')} />),
    nameColumn('findings', 'Finding', ['vuln_title', 'vuln_info']),
    column('place', 'Asset', 'minmax(160px, 2fr)', (row) => fieldOf(row, 'asset_value')),
  ],
}

const columnsOf = (kind: Kind, change: Change, byRuns: boolean): readonly Column<Row>[] => {
  const label = change === 'changed' && byRuns ? 'What changed' : 'Known of it'
  return [...COLUMNS[kind], column('what', label, 'minmax(240px, 4fr)', differencesOf)]
}

/** How often the changes of a run are read again that may get more of them. */
const SETTLING_MS = 2_000

const Results = ({
  kind,
  change,
  comparison,
  set,
}: {
  kind: Kind
  change: Change
  comparison: Comparison
  set: (changes: Search) => void
}) => {
  const byRuns = 'a' in comparison
  const later = useQuery({ ...runQuery(byRuns ? comparison.b : ''), enabled: byRuns }).data
  const result = useInfiniteQuery({
    ...changesQuery(kind, comparison, change),
    refetchInterval: () => (byRuns && !isSettled(later?.completed_at) ? SETTLING_MS : false),
  })
  const pages = result.data?.pages
  const totals = pages?.[0]
  const columns = useMemo(() => columnsOf(kind, change, byRuns), [kind, change, byRuns])
  const rows = useMemo(() => pages?.flatMap((page) => page[change]), [pages, change])
  if (result.error && !totals)
    return <ErrorPanel error={result.error} onRetry={() => void result.refetch()} />
  return (
    <>
      <Kinds
        names={CHANGE_NAMES}
        countOf={(each) => totals?.[`total_${each}`]}
        chosen={change}
        onChange={(each) => set({ change: each })}
      />
      <DataTable
        key={`${kind} ${change}`}
        label={`${KIND_NAMES[kind]}: ${change}`}
        columns={columns}
        list={{
          rows,
          total: totals?.[`total_${change}`],
          error: result.error,
          retry: () => void result.refetch(),
          more: result.hasNextPage,
          loading: result.isFetchingNextPage,
          loadMore: () => void result.fetchNextPage(),
        }}
        keyOf={({ id }) => String(id)}
        none={`Nothing ${change}`}
        advice="Choose another kind of change, or other times."
      />
    </>
  )
}

export const Screen = () => {
  const [search, set] = useFilters(NAMES)
  const by = search.by ?? (search.a || search.b ? 'runs' : search.workspace ? 'times' : 'nights')
  const kind = oneOf(KINDS, search.kind)
  const change = oneOf(CHANGES, search.change)
  const comparison =
    by === 'nights' ? undefined : comparisonOf(by === 'runs' ? search : { ...search, a: '', b: '' })
  const command = comparison ? commandOf(kind, comparison) : nightsCommand(search)
  return (
    <Page title="Changes" commands={[command]}>
      <Tabs
        label="What to compare"
        value={by}
        onChange={(next) => set({ by: next })}
        tabs={[
          tab('nights', 'Nights', <NightChanges search={search} set={set} />),
          tab('times', 'Two times', <PeriodForm search={search} set={set} />),
          tab('runs', 'Two runs', <RunsForm search={search} set={set} />),
        ]}
      />
      {comparison && 'a' in comparison ? (
        <p>
          From <RunName id={comparison.a} /> to <RunName id={comparison.b} />
        </p>
      ) : null}
      {by === 'nights' ? null : comparison ? (
        <Tabs
          label="Records"
          value={kind}
          onChange={(next) => set({ kind: next })}
          tabs={KINDS.map((each) =>
            tab(
              each,
              KIND_NAMES[each],
              <Results kind={each} change={change} comparison={comparison} set={set} />,
            ),
          )}
        />
      ) : (
        <EmptyState title="Nothing to compare yet">
          {by === 'runs'
            ? 'Give two runs of the same workflow and target: the list shows what only one of them saw.'
            : 'Choose a workspace: the list shows what appeared, disappeared and changed in it.'}
        </EmptyState>
      )}
    </Page>
  )
}

const nightsCommand = ({ job, since }: Search) =>
  job === undefined
    ? { title: 'Read the nights', api: ['GET', '/nights'] as const }
    : { title: 'What the job changed', api: ['GET', hrefWith(`/jobs/${job}/changes`, { since })] as const }

const commandOf = (kind: Kind, comparison: Comparison) => ({
  title: 'The same comparison',
  api: [
    'GET',
    'a' in comparison
      ? `/runs/${comparison.a}/diff/${comparison.b}`
      : hrefWith(`/${kind}/diff`, {
          ...comparison,
          from: newSince(comparison.from),
          to: newSince(comparison.to),
        }),
  ] as const,
})
