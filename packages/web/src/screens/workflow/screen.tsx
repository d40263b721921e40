import './workflow.css'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Suspense, type ReactNode } from 'react'
import { workflowQuery, type WorkflowPage } from '../../api/workflows.ts'
import {
  Badge,
  Button,
  DataTable,
  KeyValues,
  Link,
  LinkButton,
  Loaded,
  Page,
  Skeleton,
  tab,
  UrlTabs,
  useFilters,
  column,
  type Column,
} from '../../ui/index.ts'
import { late } from '../../ui/late.ts'
import type { Param } from './param-fields.tsx'
import { Problems } from './problems.tsx'
import { Source } from './source.tsx'
import { StartForm } from './start-form.tsx'

const Graph = late(async () => (await import('./graph.tsx')).Graph)

type Tool = WorkflowPage['tools'][number]

const PARAM_COLUMNS: readonly Column<Param>[] = [
  column('name', 'Name', 'minmax(120px, 1fr)', ({ name }) => <code>{name}</code>),
  column('type', 'Type', 'minmax(120px, 1fr)', ({ type, min, max, choices, multiple }) =>
    [
      type,
      min === undefined && max === undefined ? '' : `${min ?? ''}–${max ?? ''}`,
      choices ? choices.join(' | ') : '',
      multiple ? '(several)' : '',
    ].join(' '),
  ),
  column('required', 'Required', '80px', ({ required }) => (required ? 'yes' : '')),
  column('default', 'Default', 'minmax(120px, 1fr)', ({ default: value }) =>
    value === null ? '' : <code>{String(value as string)}</code>,
  ),
  column('description', 'Description', 'minmax(200px, 3fr)', 'description'),
]

const TOOL_COLUMNS: readonly Column<Tool>[] = [
  column('name', 'Program', 'minmax(120px, 1fr)', ({ name }) => <code>{name}</code>),
  column('workers', 'Workers that have it', '160px', ({ workers }) =>
    workers === 0 ? <Badge tone="bad">none</Badge> : <Badge tone="good">{workers}</Badge>,
  ),
  column('who', 'Which', 'minmax(180px, 2fr)', ({ worker_ids: ids }) =>
    ids.map((id, index) => (
      <span key={id}>
        {index === 0 ? '' : ', '}
        <Link href={`/workers/${encodeURIComponent(id)}`}>{id}</Link>
      </span>
    )),
  ),
  column('used', 'Used by', 'minmax(160px, 2fr)', ({ used_by: by }) => by.join(', ')),
]

const Remarks = ({ workflow, onLine }: { workflow: WorkflowPage; onLine: (line: number) => void }) => {
  const missing = workflow.tools.filter(({ workers }) => workers === 0).map(({ name }) => name)
  return (
    <>
      {workflow.valid ? null : <p className="tone-bad">■ The workflow has errors and cannot be started.</p>}
      {missing.length === 0 ? null : (
        <p className="tone-warn">▲ No worker has {missing.join(', ')}. Runs that need them wait or fail.</p>
      )}
      {workflow.problems.length === 0 ? null : (
        <details open={!workflow.valid || undefined}>
          <summary>
            The checker has {workflow.problems.length} {workflow.problems.length === 1 ? 'remark' : 'remarks'}
          </summary>
          <Problems problems={workflow.problems} onLine={onLine} file={workflow.file_path} />
        </details>
      )}
    </>
  )
}

const Body = ({ workflow }: { workflow: WorkflowPage }) => {
  const [{ line = '' }, set] = useFilters(['tab', 'line'])
  const showLine = (next: number) => set({ tab: 'source', line: String(next) })
  const panel = (content: ReactNode) => <Suspense fallback={<Skeleton lines={8} />}>{content}</Suspense>
  return (
    <div className="columns workflow">
      <div className="workflow-main stack gap-16">
        {workflow.description === '' ? null : <p>{workflow.description}</p>}
        <KeyValues
          facts={{
            Kind: workflow.kind,
            Tags: workflow.tags.join(', '),
            Target: workflow.needs_target ? 'needed' : 'not needed',
            Source: workflow.source,
            File: workflow.file_path,
          }}
        />
        <Remarks workflow={workflow} onLine={showLine} />
        <UrlTabs
          label="Parts of the page"
          tabs={[
            tab(
              'graph',
              'Graph',
              panel(<Graph graph={workflow.graph} file={workflow.file_path} onLine={showLine} />),
            ),
            tab(
              'source',
              'Source',
              <Source
                yaml={workflow.yaml}
                problems={workflow.problems.filter(({ file }) => file === workflow.file_path)}
                line={Number(line) || 0}
                onLine={showLine}
              />,
            ),
            tab(
              'params',
              `Params (${workflow.params.length})`,
              <DataTable
                label="Params"
                columns={PARAM_COLUMNS}
                list={{ rows: workflow.params, total: workflow.params.length }}
                keyOf={({ name }) => name}
                none="The workflow declares no params"
              />,
            ),
            tab(
              'tools',
              `Programs (${workflow.tools.length})`,
              <DataTable
                label="Programs"
                columns={TOOL_COLUMNS}
                list={{ rows: workflow.tools, total: workflow.tools.length }}
                keyOf={({ name }) => name}
                none="The workflow declares no programs"
              />,
            ),
          ]}
        />
      </div>
      <aside className="panel pad stack workflow-start" id="start" aria-label="Start">
        <h2>Start</h2>
        <StartForm workflow={workflow} />
      </aside>
    </div>
  )
}

export const Screen = () => {
  const { name = '' } = useParams({ strict: false }) as { name?: string }
  const path = encodeURIComponent(name)
  return (
    <Page
      title={name}
      commands={[
        { title: 'Read the workflow', api: ['GET', `/workflows/${path}`] },
        { title: 'Read it as a graph', api: ['GET', `/workflows/${path}/graph`] },
      ]}
      actions={
        <>
          <Button
            className="to-start"
            onClick={() => document.querySelector<HTMLElement>('#start textarea')?.focus()}
          >
            Start
          </Button>
          <LinkButton to={`/triggers?workflow=${path}`}>Triggers</LinkButton>
          <LinkButton to={`/runs?workflow=${path}`}>Runs</LinkButton>
        </>
      }
    >
      <Loaded query={useQuery(workflowQuery(name))}>
        {(workflow) => <Body key={name} workflow={workflow} />}
      </Loaded>
    </Page>
  )
}
