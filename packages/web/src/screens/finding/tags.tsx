import { useAct } from '../../api/act.ts'
import { changeFindings, type FindingChange } from '../../api/findings.ts'
import { useRefusal } from '../../api/role.ts'
import { Button, ErrorPanel, Field, Form, Link } from '../../ui/index.ts'

const OUTCOMES: Readonly<Record<string, string>> = {
  not_found: 'The finding no longer exists.',
  too_many_tags: 'The finding would have too many tags. Remove one first.',
}

/** Changes this one finding. */
export const useChange = (id: number) => {
  const send = async (change: FindingChange) => {
    const { signal } = new AbortController()
    const { failed } = await changeFindings({ ids: [id] }, change, () => undefined, signal)
    const outcome = failed[0]?.outcome
    if (outcome !== undefined) throw new Error(OUTCOMES[outcome] ?? outcome)
  }
  return useAct(send, { refresh: ['finding', 'findings'] })
}

export const Tags = ({ id, tags }: { id: number; tags: readonly string[] }) => {
  const refusal = useRefusal('operator')
  const change = useChange(id)
  return (
    <section className="stack gap-6">
      <h2>Tags</h2>
      <div className="line gap-6">
        {tags.length === 0 ? <span className="muted">none</span> : null}
        {tags.map((tag) => (
          <span key={tag} className="chip">
            <Link href={`/findings?tag=${encodeURIComponent(tag)}`}>{tag}</Link>
            {refusal === undefined ? (
              <button
                type="button"
                className="bare muted"
                aria-label={`Remove the tag ${tag}`}
                onClick={() => change.mutate({ remove_tags: [tag] })}
              >
                ✕
              </button>
            ) : null}
          </span>
        ))}
      </div>
      {refusal === undefined ? (
        <Form
          key={tags.join(',')}
          error={change.error}
          onSubmit={({ tag = '' }) => {
            if (tag.trim() !== '') change.mutate({ add_tags: [tag.trim()] })
          }}
        >
          <div className="line form-line">
            <Field name="tag" label="Add a tag" maxLength={256} />
            <Button type="submit" busy={change.isPending}>
              Add
            </Button>
          </div>
        </Form>
      ) : null}
      {change.error ? <ErrorPanel error={change.error} /> : null}
    </section>
  )
}
