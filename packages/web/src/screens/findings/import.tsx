import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { importFindings, workspaceNamesQuery, type ImportFormat } from '../../api/findings.ts'
import {
  choice,
  Fields,
  suggest,
  text,
  type FieldRow,
  type Texts,
  Button,
  Dialog,
  ErrorPanel,
  Form,
  Link,
  PlainTable,
} from '../../ui/index.ts'

const FORMAT_NAMES: Readonly<Record<ImportFormat, string>> = {
  sarif: 'SARIF 2.1.0',
  nuclei: 'nuclei (JSONL)',
  nmap: 'nmap (XML)',
  jsonl: 'Scanfarm export (JSONL)',
  whatweb: 'whatweb (JSON)',
  sslscan: 'sslscan (XML)',
  testssl: 'testssl.sh (JSON)',
  wapiti: 'wapiti (JSON)',
  masscan: 'masscan (JSON, list or XML)',
  ffuf: 'ffuf (JSON)',
  dirsearch: 'dirsearch (JSON)',
  gobuster: 'gobuster (text)',
  zmap: 'zmap (JSON)',
  sslyze: 'sslyze (JSON)',
  gitleaks: 'gitleaks (JSON)',
  gosec: 'gosec (JSON)',
  'pip-audit': 'pip-audit (JSON)',
  'npm-audit': 'npm audit (JSON)',
  'osv-scanner': 'osv-scanner (JSON)',
  trivy: 'trivy (JSON)',
  grype: 'grype (JSON)',
}
const FORMATS = Object.entries(FORMAT_NAMES).map(([value, label]) => ({ value, label }))

const fieldsOf = (workspaces: readonly string[]): readonly FieldRow[] => [
  [text('file', 'File', { type: 'file', required: true })],
  [choice('format', 'Format', FORMATS, { none: 'Recognise by the file' })],
  [
    suggest('workspace', 'Workspace', workspaces, {
      hint: 'A new name makes a new workspace',
      required: true,
    }),
  ],
]

/** The dialog with the file of a scanner, and what became of it. */
export const ImportDialog = ({ workspace, onClose }: { workspace: string; onClose: () => void }) => {
  const { data: workspaces = [] } = useQuery(workspaceNamesQuery)
  const sent = useAct(importFindings, { refresh: ['findings', 'counts'] })
  const send = ({ workspace: into = '', format }: Texts, [file]: readonly File[]) => {
    if (file)
      sent.mutate({ file, workspace: into, format: (format || undefined) as ImportFormat | undefined })
  }
  return (
    <Dialog onClose={onClose} title="Import findings of a scanner">
      <Form error={sent.error} onSubmit={send}>
        <Fields rows={fieldsOf(workspaces)} values={{ workspace }} />
        {sent.error ? <ErrorPanel error={sent.error} /> : null}
        {sent.data ? <Result data={sent.data} onOpen={onClose} /> : null}
        <div className="dialog-actions line">
          <Button onClick={onClose}>{sent.data ? 'Close' : 'Back'}</Button>
          <Button type="submit" kind="primary" busy={sent.isPending}>
            Import
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

type Imported = Awaited<ReturnType<typeof importFindings>>

const countsOf = (counts: Imported['assets']) => [counts.new, counts.updated, counts.unchanged]

const Result = ({ data, onOpen }: { data: Imported; onOpen: () => void }) => (
  <div role="status">
    <p className="tone-good">
      ● Imported into {data.workspace} as {data.format}.
    </p>
    <PlainTable
      head={['Records', 'New', 'Updated', 'Unchanged', 'Not usable']}
      rows={[
        ['Findings', ...countsOf(data.vulnerabilities), data.vulnerabilities.errors],
        ['Assets', ...countsOf(data.assets), '–'],
      ]}
    />
    <Link href={`/findings?workspace=${encodeURIComponent(data.workspace)}`} onClick={onOpen}>
      Show the findings of {data.workspace}
    </Link>
  </div>
)
