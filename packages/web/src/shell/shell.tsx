import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouter, useRouterState } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { sessionQuery, useLogOut } from '../api/session.ts'
import { useLiveState, useLiveStream } from '../live/live.ts'
import { ROUTES } from '../routes.ts'
import { Dialog, EmptyState, ErrorPanel, Menu, Page, useShortcut } from '../ui/index.ts'
import { useShortcutList } from '../ui/shortcuts.ts'
import { applyTheme, currentTheme, THEMES } from './theme.ts'

const GROUPS = [...new Set(ROUTES.flatMap(({ group }) => (group === undefined ? [] : [group])))]

const Navigation = ({ onLeave }: { onLeave: () => void }) => (
  <nav aria-label="Screens">
    {GROUPS.map((group) => (
      <section key={group}>
        {group === '' ? null : <h2>{group}</h2>}
        {ROUTES.filter((route) => route.group === group).map(({ path, title }) => (
          <Link
            key={path}
            to={path}
            onClick={onLeave}
            activeOptions={{ exact: path === '/', includeSearch: false }}
          >
            {title}
          </Link>
        ))}
      </section>
    ))}
  </nav>
)

const Live = () => {
  const state = useLiveState()
  return (
    <span className={`live live-${state}`} role="status">
      {state}
    </span>
  )
}

/** A number or id of a run opens it; other text lists the runs of that target. */
const SearchBox = () => {
  const input = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  useShortcut('/', 'Search', () => input.current?.focus())
  const go = (text: string) => {
    if (/^(\d+|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})$/.test(text)) void navigate({ href: `/runs/${text}` })
    else if (text !== '') void navigate({ href: `/runs?target=${encodeURIComponent(text)}` })
  }
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        go(input.current?.value.trim() ?? '')
      }}
    >
      <input
        ref={input}
        className="input"
        type="search"
        aria-label="Search"
        placeholder="Target or run id ( / )"
      />
    </form>
  )
}

const UserMenu = () => {
  const { data } = useQuery(sessionQuery)
  const logOut = useLogOut()
  const [theme, setTheme] = useState(currentTheme)
  return (
    <Menu
      label={`${data?.name ?? ''}: user and theme`}
      items={[
        ...THEMES.map((each) => ({
          label: `Theme: ${each}`,
          checked: each === theme,
          onSelect: () => {
            applyTheme(each)
            setTheme(each)
          },
        })),
        { label: 'Log out', onSelect: () => void logOut() },
      ]}
    >
      {data?.name ?? ''}
    </Menu>
  )
}

const Help = () => {
  const [open, setOpen] = useState(false)
  const shortcuts = useShortcutList()
  useShortcut('?', 'Show the keys', () => setOpen(true))
  return (
    <Dialog open={open} onClose={() => setOpen(false)} title="Keys">
      <dl className="keys">
        {shortcuts.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

export const Shell = () => {
  useLiveStream()
  const [drawer, setDrawer] = useState(false)
  // Of the screen that is shown: the address changes before the code of the next screen has arrived.
  const path = useRouterState({ select: ({ matches }) => matches.at(-1)?.pathname })
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <aside className={drawer ? 'side side-open' : 'side'}>
        <Link to="/" className="brand">
          scanfarm
        </Link>
        <Navigation onLeave={() => setDrawer(false)} />
      </aside>
      <header className="top">
        <button
          type="button"
          className="button button-quiet drawer-button"
          aria-expanded={drawer}
          onClick={() => setDrawer(!drawer)}
        >
          Menu
        </button>
        <SearchBox />
        <Live />
        <UserMenu />
      </header>
      <main id="main" key={path} tabIndex={-1}>
        <Outlet />
      </main>
      <Help />
    </div>
  )
}

export const NotFound = () => (
  <Page title="Not found">
    <EmptyState title="There is no such page">
      <Link to="/">Go to the overview</Link>
    </EmptyState>
  </Page>
)

export const RouteError = ({ error }: { error: unknown }) => {
  const router = useRouter()
  return <ErrorPanel error={error} onRetry={() => void router.invalidate()} />
}
