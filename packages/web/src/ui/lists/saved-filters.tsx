import { api, byId } from '../../api/client.ts'
import { useAct } from '../../api/act.ts'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useRefusal } from '../../api/role.ts'
import { savedFiltersQuery, type SavedFilter } from '../../api/saved-filters.ts'
import { Button } from '../button.tsx'
import { Field, Form } from '../forms/field.tsx'
import { useFilters } from './filters.tsx'
import { Link } from '../link.tsx'
import { ErrorPanel, Skeleton } from '../page.tsx'
import { Popover } from '../overlays/popover.tsx'

interface SavedFiltersProps {
  /** Path of the list, without the slash: `findings`. */
  readonly screen: string
  /** The names in the URL that belong to the filter. */
  readonly names: readonly string[]
}

/** Filters of a list that were saved under a name: open, save the present one, share, delete. */
export const SavedFilters = (props: SavedFiltersProps) => (
  <Popover
    role="dialog"
    label="Saved filters"
    trigger="Saved filters"
    triggerClass="button button-plain"
    className="saved-filters"
  >
    <h2 className="popup-title">Saved filters</h2>
    <Saved {...props} />
  </Popover>
)

const Saved = ({ screen, names }: SavedFiltersProps) => {
  const { data, error, refetch } = useQuery(savedFiltersQuery(screen))
  return (
    <>
      {error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : null}
      {data ? null : <Skeleton lines={1} />}
      {data?.length === 0 ? <p className="muted popup-title">None yet.</p> : null}
      <ul className="list saved-list">
        {data?.map((filter) => (
          <Entry key={filter.id} filter={filter} />
        ))}
      </ul>
      <SaveForm screen={screen} names={names} known={data ?? []} />
    </>
  )
}

const closePopover = (element: HTMLElement): void => element.closest<HTMLElement>('[popover]')?.hidePopover()

const Entry = ({ filter }: { filter: SavedFilter }) => {
  const { id, name, query, own, shared, owner_name, screen } = filter
  const refusal = useRefusal('admin')
  const remove = useAct(() => api.DELETE('/saved-filters/{id}', byId(id)), { refresh: ['saved-filters'] })
  return (
    <li className="line">
      <Link
        href={`/${screen}${query && `?${query}`}`}
        onClick={({ currentTarget }) => closePopover(currentTarget)}
      >
        {name}
      </Link>
      <span className="muted push">{own ? (shared ? 'shared' : '') : `by ${owner_name}`}</span>
      {own || refusal === undefined ? (
        <Button
          kind="quiet"
          busy={remove.isPending}
          aria-label={`Delete the filter ${name}`}
          onClick={() => remove.mutate()}
        >
          Delete
        </Button>
      ) : null}
      {remove.error ? <ErrorPanel error={remove.error} /> : null}
    </li>
  )
}

const SaveForm = ({ screen, names, known }: SavedFiltersProps & { known: readonly SavedFilter[] }) => {
  const queries = useQueryClient()
  const refusal = useRefusal('operator')
  const [filters] = useFilters(names)
  const [name, setName] = useState('')
  const query = new URLSearchParams(filters as Record<string, string>).toString()
  const replaces = known.some((one) => one.own && one.name === name)
  const save = useMutation({
    mutationFn: (shared: boolean) => api.POST('/saved-filters', { body: { screen, name, query, shared } }),
    onSuccess: async () => {
      setName('')
      // A first answer that is still on its way does not have it, and would not be asked for again.
      const { queryKey } = savedFiltersQuery(screen)
      await queries.cancelQueries({ queryKey })
      await queries.invalidateQueries({ queryKey })
    },
  })
  return (
    <Form error={save.error} onSubmit={({ shared }) => save.mutate(shared === 'on')}>
      <Field
        name="name"
        label="Save the present filter as"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={128}
        required
      />
      <label className="check" title={refusal}>
        <input type="checkbox" name="shared" disabled={refusal !== undefined} /> Everybody sees it
        {refusal === undefined ? null : <span className="muted"> (needs the role operator)</span>}
      </label>
      {save.error ? <ErrorPanel error={save.error} /> : null}
      <Button type="submit" kind="primary" busy={save.isPending}>
        {replaces ? 'Replace' : 'Save'}
      </Button>
    </Form>
  )
}
