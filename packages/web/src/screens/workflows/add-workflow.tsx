import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Suspense, useRef, useState } from 'react'
import { lintWorkflow, uploadWorkflow } from '../../api/workflows.ts'
import { Badge, Button, ErrorPanel, Skeleton, toast, useQuiet } from '../../ui/index.ts'
import { late } from '../../ui/late.ts'
import { Problems } from '../workflow/problems.tsx'
import { YamlEditor } from './yaml-editor.tsx'

const Graph = late(async () => (await import('../workflow/graph.tsx')).Graph)

/** The file is checked when the user has not typed for so long. */
const QUIET_MS = 400
const FILE = 'workflow.yaml'

const EXAMPLE = `kind: module
name: my-module
description: What it does.
params:
  - {name: port, type: int, min: 1, max: 65535, default: 22}
steps:
  - name: ask
    type: bash
    command: nc -w 5 {{Target}} {{port}} < /dev/null > {{Output}}/banner.txt
`

interface Source {
  readonly name: string
  readonly text: string
}

/** Checks a workflow while it is typed, and saves it when it has no errors. */
export const AddWorkflow = ({ refusal }: { refusal: string | undefined }) => {
  const [{ name, text }, setSource] = useState<Source>({ name: FILE, text: '' })
  const [selection, setSelection] = useState<{ line: number }>()
  const checked = useQuiet(text, QUIET_MS)
  const chooser = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  const lint = useQuery({
    queryKey: ['lint', name, checked],
    queryFn: ({ signal }) => lintWorkflow(new File([checked], name), signal),
    enabled: checked.trim() !== '',
    placeholderData: (before) => before,
    gcTime: 0,
  })
  const save = useAct(() => uploadWorkflow(new File([text], name)), {
    refresh: ['workflows', 'workflow'],
    done: (added) => {
      toast(`The ${added.kind} ${added.name} is saved.`)
      void navigate({ href: `/workflows/${encodeURIComponent(added.name)}` })
    },
  })
  const take = async (file: File | undefined) => {
    if (file) setSource({ name: file.name, text: await file.text() })
  }
  const isChecked = checked === text && !lint.isFetching && lint.data !== undefined && text.trim() !== ''
  const problems = text.trim() === '' ? [] : (lint.data?.problems ?? [])
  const errors = problems.filter(({ severity }) => severity === 'error').length
  const why =
    refusal ??
    (text.trim() === ''
      ? 'Paste a workflow or choose a file first.'
      : isChecked && errors > 0
        ? 'Correct the errors first.'
        : undefined)
  return (
    <div className="columns add-workflow">
      <div
        className="stack"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault()
          void take(event.dataTransfer.files[0])
        }}
      >
        <div className="line">
          <Button onClick={() => chooser.current?.click()}>Choose a file</Button>
          <input
            ref={chooser}
            type="file"
            hidden
            accept=".yaml,.yml"
            aria-label="Workflow file"
            onChange={(event) => {
              void take(event.currentTarget.files?.[0])
              event.currentTarget.value = ''
            }}
          />
          {text === '' ? (
            <Button kind="quiet" onClick={() => setSource({ name: FILE, text: EXAMPLE })}>
              Begin with an example
            </Button>
          ) : (
            <span className="muted">{name}</span>
          )}
          <span role="status" className="push">
            {text.trim() === '' ? null : !isChecked ? (
              <Badge tone="busy">checking</Badge>
            ) : errors > 0 ? (
              <Badge tone="bad">
                {errors} {errors === 1 ? 'error' : 'errors'}
              </Badge>
            ) : problems.length > 0 ? (
              <Badge tone="warn">no errors, {problems.length} remarks</Badge>
            ) : (
              <Badge tone="good">no errors</Badge>
            )}
          </span>
          <Button
            kind="primary"
            busy={save.isPending}
            refusal={why}
            disabled={!isChecked}
            onClick={() => save.mutate()}
          >
            Save
          </Button>
        </div>
        <YamlEditor
          text={text}
          problems={problems}
          place={selection}
          onChange={(next) => setSource({ name, text: next })}
        />
        <p className="muted">
          The file is checked on its own: workflows that it refers to are not loaded. Saving replaces an
          uploaded workflow with the same kind and name.
        </p>
      </div>
      <div className="stack">
        {save.error ? <ErrorPanel error={save.error} /> : null}
        {lint.error && checked !== '' ? <ErrorPanel error={lint.error} /> : null}
        <Problems problems={problems} onLine={(line) => setSelection({ line })} />
        {lint.data?.graph && lint.data.graph.nodes.length > 0 && text.trim() !== '' ? (
          <Suspense fallback={<Skeleton lines={6} />}>
            <Graph graph={lint.data.graph} />
          </Suspense>
        ) : null}
      </div>
    </div>
  )
}
