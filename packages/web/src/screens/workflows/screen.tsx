import './workflows.css'
import { useQuery } from '@tanstack/react-query'
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
  FilteredList,
  Link,
  Page,
  useFilters,
  useList,
  column,
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
  column('name', 'Name', 'minmax(160px, 1.2fr)', ({ name }) => <Link href={pathTo(name)}>{name}</Link>),
  column('kind', 'Kind', '72px', 'kind'),
  column('description', 'Description', 'minmax(200px, 3fr)', 'description'),
  column('parts', 'Parts', '92px', ({ module_count: modules, step_count: steps }) =>
    modules > 0 ? plural(modules, 'module') : plural(steps, 'step'),
  ),
  column('state', 'Check', '84px', ({ valid }) =>
    valid ? <Badge tone="good">valid</Badge> : <Badge tone="bad">errors</Badge>,
  ),
  column('tools', 'Programs', 'minmax(140px, 1.4fr)', ({ missing_tools: names }) => (
    <Missing names={names} />
  )),
  column('health', 'Last 24 hours', '128px', ({ name }) => <Health name={name} />),
  column('tags', 'Tags', 'minmax(120px, 1fr)', ({ tags }) => tags.join(', ')),
  column('params', 'Params', { width: '72px', align: 'end', hidden: true }, (one) => one.params.length),
  column('source', 'Source', { width: '180px', hidden: true }, 'source'),
  column('file', 'File', { width: '220px', hidden: true }, 'file_path'),
]

const List = () => {
  const { data: tags = [] } = useQuery(tagsQuery)
  const [filters] = useFilters(['search', 'kind', 'tags'])
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
      hrefOf={({ name }) => pathTo(name)}
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
        commands={[
          { title: 'Check a file', cli: ['workflow', 'lint', 'workflow.yaml'] },
          { title: 'Add a file', cli: ['upload', '--workflow', 'workflow.yaml'] },
        ]}
        actions={<Button onClick={() => set({ view: '' })}>Back to the list</Button>}
      >
        <AddWorkflow refusal={refusal} />
      </Page>
    )
  return (
    <Page
      title="Workflows"
      commands={[
        {
          title: 'List these workflows',
          cli: ['workflows'],
          api: ['GET', `/workflows${query && `?${query}`}`],
        },
      ]}
      actions={
        <Button kind="primary" onClick={() => set({ view: 'add' })}>
          Add or check
        </Button>
      }
    >
      <List />
    </Page>
  )
}
