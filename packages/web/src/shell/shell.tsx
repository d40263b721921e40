import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import { roleAllows } from '../api/role.ts'
import { sessionQuery, useLogOut } from '../api/session.ts'
import { useLiveState, useLiveStream, type LiveState } from '../live/live.ts'
import { ROUTES, type ScreenRoute } from '../routes.ts'
import { Button, Dialog, EmptyState, Menu, Page, PlainTable, Tooltip, useShortcut } from '../ui/index.ts'
import { DialogHost } from '../ui/overlays/dialog-host.ts'
import { useShortcutList, useShortcuts } from '../ui/shortcuts.ts'
import { Banners } from './banners.tsx'
import { Search } from './search.tsx'
import { applyTheme, currentTheme, THEMES } from './theme.ts'

const GROUPS = [...new Set(ROUTES.flatMap(({ group }) => (group === undefined ? [] : [group])))]
const NARROW = '(max-width: 760px)'

/** The screens of the navigation that the caller may see. */
const useScreens = (): readonly ScreenRoute[] => {
  const { data } = useQuery(sessionQuery)
  const role = data?.role ?? 'viewer'
  return useMemo(
    () =>
      ROUTES.filter(({ group, role: needed = 'viewer' }) => group !== undefined && roleAllows(role, needed)),
    [role],
  )
}

const Navigation = ({ screens }: { screens: readonly ScreenRoute[] }) => (
  <nav aria-label="Screens">
    {GROUPS.map((group) => (
      <section key={group}>
        {group === '' ? null : <h2>{group}</h2>}
        {screens
          .filter((route) => route.group === group)
          .map(({ path, title, key }) => (
            <Link
              key={path}
              to={path}
              aria-keyshortcuts={key && `g ${key}`}
              activeOptions={{ exact: path === '/', includeSearch: false }}
            >
              {title}
            </Link>
          ))}
      </section>
    ))}
  </nav>
)

/** The navigation of a narrow window. */
const Drawer = ({ screens, onClose }: { screens: readonly ScreenRoute[]; onClose: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const element = dialog.current
    const narrow = matchMedia(NARROW)
    const leave = () => narrow.matches || onClose()
    narrow.addEventListener('change', leave)
    element?.showModal()
    return () => {
      narrow.removeEventListener('change', leave)
      element?.close()
    }
  }, [onClose])
  return (
    // A click on a link bubbles to the dialog, which closes.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events
    <dialog
      ref={dialog}
      className="side drawer"
      aria-label="Menu"
      closedby="any"
      onClose={({ currentTarget }) => currentTarget.open || onClose()}
      onClick={({ target }) => target instanceof HTMLAnchorElement && onClose()}
    >
      <Button kind="quiet" className="drawer-close" aria-label="Close the menu" onClick={onClose}>
        ✕
      </Button>
      <Navigation screens={screens} />
    </dialog>
  )
}

/** The sign of a state, its tone, and what it means. */
const LIVE: Readonly<Record<LiveState, readonly [sign: string, tone: string, meaning: string]>> = {
  connecting: ['●', 'muted', 'Connecting to the events of the farm.'],
  live: ['●', 'tone-good', 'Lists and pages follow the events of the farm. Press to read everything again.'],
  reconnecting: [
    '▲',
    'muted',
    'The events of the farm do not arrive: the console connects again. Press to read everything again.',
  ],
  paused: ['⊘', 'muted', 'This tab was hidden, and follows no events. Press to read everything again.'],
}

const Live = () => {
  const state = useLiveState()
  const [sign, tone, meaning] = LIVE[state]
  const queries = useQueryClient()
  return (
    <>
      <Tooltip text={meaning}>
        <Button
          kind="quiet"
          className="live"
          aria-label={state}
          onClick={() => void queries.invalidateQueries()}
        >
          <span className={tone}>
            {sign} <span className="wide-only">{state}</span>
          </span>
        </Button>
      </Tooltip>
      <span className="unseen" role="status">
        {state === 'live' ? '' : `Live updates: ${state}`}
      </span>
    </>
  )
}

const UserMenu = () => {
  const { data } = useQuery(sessionQuery)
  const logOut = useLogOut()
  const navigate = useNavigate()
  const [theme, setTheme] = useState(currentTheme)
  return (
    <Menu
      label={`${data?.name ?? ''} ${data?.role ?? ''}: user and theme`}
      items={[
        ...THEMES.map((each) => ({
          label: `Theme: ${each}`,
          checked: each === theme,
          onSelect: () => {
            applyTheme(each)
            setTheme(each)
          },
        })),
        { label: 'My logins', onSelect: () => void navigate({ href: '/access?tab=logins' }) },
        { label: 'Log out', onSelect: () => void logOut() },
      ]}
    >
      <span className="clip user-name">{data?.name ?? ''}</span>{' '}
      <span className="muted wide-only">{data?.role ?? ''}</span>
    </Menu>
  )
}

const Help = () => {
  const [open, setOpen] = useState(false)
  const shortcuts = useShortcutList()
  useShortcut('?', 'Show the keys', () => setOpen(true), 'Everywhere')
  // A table and its screen may list the same key.
  const groups = Map.groupBy(
    new Map(shortcuts.map((each) => [each.keys, each])).values(),
    ({ group }) => group,
  )
  if (!open) return null
  return (
    <Dialog onClose={() => setOpen(false)} title="Keys" wide>
      <div className="grid roomy">
        {['This screen', 'Everywhere', 'Go to'].map((group) => {
          const listed = groups.get(group)
          return listed ? (
            <section key={group}>
              <h3>{group}</h3>
              <PlainTable
                rows={listed.map(({ keys, does }) => [
                  keys.split(' ').map((key, index) => <kbd key={index}>{key}</kbd>),
                  does,
                ])}
              />
            </section>
          ) : null
        })}
      </div>
      <p className="muted">Keys work outside inputs and dialogs. Esc closes what is open.</p>
    </Dialog>
  )
}

/** The keys that lead to the screens. */
const useGoTo = (screens: readonly ScreenRoute[]): void => {
  const navigate = useNavigate()
  useShortcuts(
    useMemo(
      () =>
        screens.flatMap(({ key, path, title }) =>
          key === undefined
            ? []
            : [{ keys: `g ${key}`, does: title, group: 'Go to', act: () => void navigate({ href: path }) }],
        ),
      [screens, navigate],
    ),
  )
}

export const Shell = () => {
  useLiveStream()
  const screens = useScreens()
  useGoTo(screens)
  const [drawer, setDrawer] = useState(false)
  const close = useMemo(() => () => setDrawer(false), [])
  // Of the screen that is shown: the address changes before the code of the next screen has arrived.
  const path = useRouterState({ select: ({ matches }) => matches.at(-1)?.pathname })
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <aside className="side">
        <Link to="/" className="brand">
          scanfarm
        </Link>
        <Navigation screens={screens} />
      </aside>
      <header className="top">
        <Button
          kind="quiet"
          className="narrow-only"
          aria-haspopup="dialog"
          aria-expanded={drawer}
          onClick={() => setDrawer(true)}
        >
          Menu
        </Button>
        <Search />
        <Live />
        <UserMenu />
      </header>
      <main id="main" key={path} tabIndex={-1}>
        <Banners />
        <Outlet />
        <DialogHost />
      </main>
      {drawer ? <Drawer screens={screens} onClose={close} /> : null}
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
