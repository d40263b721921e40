import './workflows.css'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRefusal } from '../../api/role.ts'
import {
  failingQuery,
  tagsQuery,
  workflowsQuery,
  type Workflow,
  type WorkflowFilters,
} from '../../api/workflows.ts'
import {
  Badge,
  Button,
  Commands,
  FilteredList,
  Link,
  Page,
  useFilters,
  useList,
  type Column,
  plural,
} from '../../ui/index.ts'
import { AddWorkflow } from './add-workflow.tsx'

const pathTo = (name: string): string => `/workflows/${encodeURIComponent(name)}`

const Missing = ({ names }: { names: readonly string[] }) =>
  names.length === 0 ? (
    <Badge tone="good">complete</Badge>
  ) : (
    <span title={`No worker has ${names.join(', ')}`}>
      <Badge tone="warn">
        {names.length} missing: {names.join(', ')}
      </Badge>
    </span>
  )

const Health = ({ name }: { name: string }) => {
  const { data } = useQuery(failingQuery)
  const found = data?.failing_workflows_24h.find(({ workflow_name }) => workflow_name === name)
  return found ? (
    <Link href={`/runs?workflow=${encodeURIComponent(name)}&status=failed`}>
      <Badge tone="bad">
        {found.failed} of {found.ended} failed
      </Badge>
    </Link>
  ) : (
    <span className="muted">–</span>
  )
}

const COLUMNS: readonly Column<Workflow>[] = [
  {
    id: 'name',
    label: 'Name',
    width: 'minmax(160px, 1.2fr)',
    cell: ({ name }) => <Link href={pathTo(name)}>{name}</Link>,
  },
  { id: 'kind', label: 'Kind', width: '72px', cell: ({ kind }) => kind },
  {
    id: 'description',
    label: 'Description',
    width: 'minmax(200px, 3fr)',
    cell: ({ description }) => <span title={description}>{description}</span>,
  },
  {
    id: 'parts',
    label: 'Parts',
    width: '92px',
    cell: ({ module_count: modules, step_count: steps }) =>
      modules > 0 ? plural(modules, 'module') : plural(steps, 'step'),
  },
  {
    id: 'state',
    label: 'Check',
    width: '84px',
    cell: ({ valid }) => (valid ? <Badge tone="good">valid</Badge> : <Badge tone="bad">errors</Badge>),
  },
  {
    id: 'tools',
    label: 'Programs',
    width: 'minmax(140px, 1.4fr)',
    cell: ({ missing_tools: names }) => <Missing names={names} />,
  },
  { id: 'health', label: 'Last 24 hours', width: '128px', cell: ({ name }) => <Health name={name} /> },
  { id: 'tags', label: 'Tags', width: 'minmax(120px, 1fr)', cell: ({ tags }) => tags.join(', ') },
  {
    id: 'params',
    label: 'Params',
    width: '72px',
    align: 'end',
    hidden: true,
    cell: (one) => one.params.length,
  },
  { id: 'source', label: 'Source', width: '180px', hidden: true, cell: ({ source }) => source },
  { id: 'file', label: 'File', width: '220px', hidden: true, cell: ({ file_path: path }) => path },
]

const List = () => {
  const { data: tags = [] } = useQuery(tagsQuery)
  const [filters] = useFilters(['search', 'kind', 'tags'])
  const navigate = useNavigate()
  const list = useList(workflowsQuery(filters as WorkflowFilters))
  return (
    <FilteredList
      filters={[
        { name: 'search', label: 'Name or description' },
        { name: 'kind', label: 'Kind', options: ['flow', 'module'] },
        { name: 'tags', label: 'Tag', suggestions: tags },
      ]}
      label="Workflows"
      columns={COLUMNS}
      list={list}
      keyOf={({ kind, name }) => `${kind} ${name}`}
      onOpen={({ name }) => void navigate({ href: pathTo(name) })}
      none="No workflows"
      advice="Add a workflow file, or place files in a folder of workflows.folders."
    />
  )
}

export const Screen = () => {
  const [{ view, ...filters }, set] = useFilters(['view', 'search', 'kind', 'tags'])
  const refusal = useRefusal('admin')
  const query = new URLSearchParams(filters as Record<string, string>).toString()
  if (view === 'add')
    return (
      <Page
        title="Add or check a workflow"
        actions={
          <>
            <Commands
              lines={[
                { title: 'Check a file', cli: ['workflow', 'lint', 'workflow.yaml'] },
                { title: 'Add a file', cli: ['upload', '--workflow', 'workflow.yaml'] },
              ]}
            />
            <Button onClick={() => set({ view: '' })}>Back to the list</Button>
          </>
        }
      >
        <AddWorkflow refusal={refusal} />
      </Page>
    )
  return (
    <Page
      title="Workflows"
      actions={
        <>
          <Commands
            lines={[
              {
                title: 'List these workflows',
                cli: ['workflows'],
                api: ['GET', `/workflows${query && `?${query}`}`],
              },
            ]}
          />
          <Button kind="primary" onClick={() => set({ view: 'add' })}>
            Add or check
          </Button>
        </>
      }
    >
      <List />
    </Page>
  )
}
