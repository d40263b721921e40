import { useQuery } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { useLiveState } from '../live/live.ts'
import { Button } from '../ui/index.ts'

const CHECK_MS = 5_000
const LOOK_MS = 600_000
const MODULE = /<script type="module"[^>]* src="([^"]+)"/

const answers = async (): Promise<boolean> => {
  try {
    return (await fetch('/health', { cache: 'no-store' })).ok
  } catch {
    return false
  }
}

/** Whether the master serves another console than the one of this page. */
const isNewer = async (): Promise<boolean> => {
  const own = document.querySelector<HTMLScriptElement>('script[type=module][src]')?.getAttribute('src')
  try {
    const page = await fetch('/', { headers: { Accept: 'text/html' }, cache: 'no-store' })
    const served = MODULE.exec(await page.text())?.[1]
    return own !== undefined && own !== null && served !== undefined && served !== own
  } catch {
    return false
  }
}

let missing = false
const watchers = new Set<() => void>()
/** A part of the console could not be loaded: the master has another one. */
window.addEventListener('vite:preloadError', () => {
  missing = true
  for (const watcher of watchers) watcher()
})
const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

const useLost = (): boolean => {
  const state = useLiveState()
  const isReconnecting = state === 'reconnecting'
  const { data } = useQuery({
    queryKey: ['session', 'health'],
    queryFn: answers,
    enabled: isReconnecting,
    refetchInterval: CHECK_MS,
    staleTime: 0,
  })
  return isReconnecting && data === false
}

const useNewer = (): boolean => {
  const state = useLiveState()
  const isMissing = useSyncExternalStore(watch, () => missing)
  const { data, refetch } = useQuery({
    queryKey: ['session', 'console'],
    queryFn: isNewer,
    staleTime: LOOK_MS,
    refetchInterval: LOOK_MS,
  })
  // A new console arrives with a restart of the master.
  useEffect(() => {
    if (state === 'live') void refetch()
  }, [state, refetch])
  return isMissing || data === true
}

export const Banners = () => {
  const lost = useLost()
  const newer = useNewer()
  return (
    <div role="status" className="banners">
      {lost ? (
        <p className="banner tone-bad">
          ■ The server does not answer. The page shows what was known last, and continues by itself.
        </p>
      ) : null}
      {newer ? (
        <p className="banner tone-warn">
          ▲ The server has a newer console.
          <Button onClick={() => window.location.reload()}>Reload</Button>
        </p>
      ) : null}
    </div>
  )
}
