import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../api/client.ts'
import { api } from '../../api/client.ts'
import { artifactsQuery } from '../../api/runs.ts'
import {
  Loaded,
  useWholeList,
  Button,
  Bytes,
  Code,
  DataTable,
  EmptyState,
  JsonView,
  Markdown,
  Time,
  useFilters,
  column,
} from '../../ui/index.ts'

type Artifact = Schemas['Artifact']

/** Bytes of a text that are shown. */
const SHOWN = 512 * 1024
const TEXTS = ['json', 'jsonl', 'yaml', 'md', 'log', 'txt']
const FRAMED_NAME = /\.(?:html?|svg|jpe?g|gif|webp|bmp|ico|pdf|png)$/i
const TEXT_NAME = /\.(?:txt|xml|csv|conf|json|jsonl|ya?ml|md|log)$/i

const pathOf = (id: string, artifact: Artifact): string =>
  `/api/runs/${encodeURIComponent(id)}/artifacts/${artifact.id}/content`

const formOf = ({ content_type: type, name }: Artifact): 'text' | 'frame' | 'none' => {
  if (type === 'html' || type === 'pdf' || type === 'png' || FRAMED_NAME.test(name)) return 'frame'
  return TEXTS.includes(type) || (type === 'unknown' && TEXT_NAME.test(name)) ? 'text' : 'none'
}

const TextPreview = ({ id, artifact }: { id: string; artifact: Artifact }) => {
  const query = useQuery({
    queryKey: ['artifact', id, artifact.id],
    queryFn: async ({ signal }) => {
      const answer = await api.GET('/runs/{id}/artifacts/{artifact_id}/content', {
        params: { path: { id, artifact_id: artifact.id } },
        headers: { range: `bytes=0-${SHOWN - 1}` },
        parseAs: 'text',
        signal,
      })
      return String(answer.data)
    },
    staleTime: 'static',
    enabled: artifact.size_bytes > 0,
  })
  if (artifact.size_bytes === 0) return <EmptyState title="The file is empty" />
  const whole = artifact.size_bytes <= SHOWN
  const label = `Content of ${artifact.name}`
  const shown = (content: string) => {
    if (artifact.content_type === 'json' && whole) return <JsonView value={content} label={label} />
    if (artifact.content_type === 'md' && whole) return <Markdown label={label}>{content}</Markdown>
    return <Code label={label}>{content}</Code>
  }
  return (
    <Loaded query={query} lines={6}>
      {(content) => (
        <>
          {shown(content)}
          {whole ? null : (
            <p className="muted">
              The first <Bytes value={SHOWN} /> of <Bytes value={artifact.size_bytes} />. Download the file to
              read the rest.
            </p>
          )}
        </>
      )}
    </Loaded>
  )
}

const Preview = ({ id, artifact, onClose }: { id: string; artifact: Artifact; onClose: () => void }) => {
  const form = formOf(artifact)
  return (
    <section className="stack" aria-label={`Preview of ${artifact.name}`}>
      <header className="line wrap">
        <h2>{artifact.name}</h2>
        <Bytes value={artifact.size_bytes} />
        <span className="line push">
          <a className="button button-plain" href={pathOf(id, artifact)} download>
            Download
          </a>
          <Button kind="quiet" onClick={onClose}>
            Close
          </Button>
        </span>
      </header>
      {form === 'text' ? <TextPreview id={id} artifact={artifact} /> : null}
      {form === 'frame' ? (
        // Without scripts, without requests and without the cookie: the master sends a policy of its own, too.
        <iframe
          sandbox=""
          title={`Preview of ${artifact.name}`}
          className="panel preview-frame"
          referrerPolicy="no-referrer"
          src={`${pathOf(id, artifact)}?view=frame`}
        />
      ) : null}
      {form === 'none' ? (
        <EmptyState title="This file cannot be shown">Download it to read it.</EmptyState>
      ) : null}
    </section>
  )
}

export const Artifacts = ({ id, ended }: { id: string; ended: boolean }) => {
  const list = useWholeList(artifactsQuery(id, ended))
  const [{ artifact: chosen = '' }, set] = useFilters(['artifact'])
  const artifact = list.rows?.find((each) => each.id === chosen)
  const open = (each: Artifact) => set({ artifact: each.id })
  return (
    <div className="stack">
      {artifact === undefined ? null : (
        <Preview key={artifact.id} id={id} artifact={artifact} onClose={() => set({ artifact: '' })} />
      )}
      <DataTable<Artifact>
        label="Artifacts"
        list={list}
        keyOf={(each) => each.id}
        onOpen={open}
        none="No artifacts"
        advice="Files that the workflow reports appear here."
        columns={[
          column('name', 'Name', 'minmax(200px, 2fr)', (each) => (
            <button
              type="button"
              className="bare link-button"
              aria-pressed={each.id === chosen}
              onClick={() => open(each)}
            >
              {each.name}
            </button>
          )),
          column('kind', 'Kind', '90px', 'artifact_type'),
          column('type', 'Type', '90px', 'content_type'),
          column('size', 'Size', { width: '90px', align: 'end' }, (each) => (
            <Bytes value={each.size_bytes} />
          )),
          column('lines', 'Lines', { width: '80px', align: 'end' }, (each) => (
            <span className="number">{each.line_count.toLocaleString()}</span>
          )),
          column('created', 'Created', '90px', (each) => <Time at={each.created_at} />),
          column('download', 'File', '90px', (each) => (
            <a href={pathOf(id, each)} download>
              Download
            </a>
          )),
          column('about', 'Description', 'minmax(160px, 2fr)', 'description'),
        ]}
      />
    </div>
  )
}
