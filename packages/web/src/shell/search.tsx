import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useId, useRef, useState, type KeyboardEvent } from 'react'
import { searchQuery, type HitGroup } from '../api/search.ts'
import { ROUTES } from '../routes.ts'
import { useQuiet, useShortcut } from '../ui/index.ts'

/** The search begins when the user has not typed for so long. */
const REST_MS = 200

const screensOf = (text: string): HitGroup[] => {
  const hits = ROUTES.filter(
    ({ group, title }) => group !== undefined && title.toLowerCase().startsWith(text.toLowerCase()),
  ).map(({ path, title }) => ({ href: path, text: title, note: '' }))
  return text === '' || hits.length === 0 ? [] : [{ title: 'Screens', hits }]
}

/** Finds jobs, runs, workflows, findings, workers and screens while one types. */
export const Search = () => {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const router = useRouter()
  const queries = useQueryClient()
  const [text, setText] = useState('')
  const [open, setOpen] = useState(false)
  const [cursor, setCursor] = useState(0)
  const wanted = useQuiet(text.trim(), REST_MS)
  const { data, error, isFetching } = useQuery({ ...searchQuery(wanted), enabled: open && wanted !== '' })
  useShortcut('/', 'Search', () => input.current?.focus(), 'Everywhere')
  useShortcut('Ctrl+k', 'Search', () => input.current?.select(), 'Everywhere')
  const isCurrent = wanted === text.trim()
  const groups = isCurrent ? [...screensOf(wanted), ...(data ?? [])] : []
  const hits = groups.flatMap((group) => group.hits)
  const go = (href: string | undefined) => {
    if (href === undefined) return
    setOpen(false)
    setText('')
    input.current?.blur()
    void router.navigate({ href })
  }
  const enter = async () => {
    const chosen = hits[cursor]
    if (chosen) return go(chosen.href)
    const now = text.trim()
    if (now === '') return
    const { pathname } = router.state.location
    const found = await queries.query(searchQuery(now)).catch(() => [])
    // A late answer does not take the user from where they have gone meanwhile.
    if (router.state.location.pathname !== pathname || input.current?.value.trim() !== now) return
    go(([...screensOf(now), ...found][0]?.hits ?? [])[0]?.href)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
    const by = moves[event.key]
    if (by !== undefined && hits.length > 0) {
      event.preventDefault()
      setCursor((cursor + by + hits.length) % hits.length)
    } else if (event.key === 'Escape') {
      setOpen(false)
      if (text === '') input.current?.blur()
      setText('')
    }
  }
  const shown = open && text.trim() !== ''
  const chosen = hits[cursor]
  const state = error ? 'The search failed: the server did not answer.' : 'Nothing found.'
  return (
    <search className="search">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void enter()
        }}
      >
        <input
          ref={input}
          className="input"
          type="search"
          role="combobox"
          aria-label="Search"
          aria-expanded={shown}
          aria-controls={`${id}-hits`}
          aria-activedescendant={shown && chosen ? `${id}-${cursor}` : undefined}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          maxLength={256}
          placeholder="Search ( / or Ctrl+K )"
          value={text}
          onChange={({ target }) => {
            setText(target.value)
            setCursor(0)
            setOpen(true)
          }}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
      </form>
      <div id={`${id}-hits`} role="listbox" aria-label="Found" className="popup search-hits" hidden={!shown}>
        {groups.map(({ title, hits: listed }) => (
          <div key={title} role="group" aria-label={title}>
            <div className="caption search-title" aria-hidden="true">
              {title}
            </div>
            {listed.map((hit) => {
              const index = hits.indexOf(hit)
              return (
                <div
                  key={hit.href}
                  id={`${id}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === cursor}
                  className="search-hit"
                  // Before the input loses the focus, which closes the list.
                  onPointerDown={(event) => {
                    event.preventDefault()
                    go(hit.href)
                  }}
                >
                  <span>{hit.text}</span> <span className="muted">{hit.note}</span>
                </div>
              )
            })}
          </div>
        ))}
      </div>
      <div role="status" className={shown && hits.length === 0 ? 'popup search-hits muted' : 'unseen'}>
        {shown &&
          (hits.length === 0 ? (isFetching || !isCurrent ? 'Searching…' : state) : `${hits.length} found`)}
      </div>
    </search>
  )
}
