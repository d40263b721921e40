import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLiveState } from '../live/live.ts'
import { useOutage } from '../live/outage.ts'
import { Button } from '../ui/index.ts'

const LOOK_MS = 600_000
/** While the server builds its console. */
const SOON_MS = 5_000
const MODULE = /<script type="module"[^>]* src="([^"]+)"/

/** Whether the master serves another console than the one of this page; null: it serves none now. */
const isNewer = async (): Promise<boolean | null> => {
  const own = document.querySelector<HTMLScriptElement>('script[type=module][src]')?.getAttribute('src')
  try {
    const page = await fetch('/', { headers: { Accept: 'text/html' }, cache: 'no-store' })
    const served = MODULE.exec(await page.text())?.[1]
    return served === undefined ? null : served !== own
  } catch {
    return null
  }
}

const useNewer = (): boolean => {
  const state = useLiveState()
  const { data, refetch } = useQuery({
    queryKey: ['session', 'console'],
    queryFn: isNewer,
    staleTime: LOOK_MS,
    refetchInterval: ({ state: { data: newer } }) => (newer === null ? SOON_MS : LOOK_MS),
  })
  // A new console arrives with a restart of the master.
  useEffect(() => {
    if (state === 'live') void refetch()
  }, [state, refetch])
  // A part of the console could not be loaded.
  useEffect(() => {
    const check = () => void refetch()
    window.addEventListener('vite:preloadError', check)
    return () => window.removeEventListener('vite:preloadError', check)
  }, [refetch])
  return data === true
}

export const Banners = () => {
  const since = useOutage()
  const newer = useNewer()
  return (
    <div role="status" className="banners">
      {since === undefined ? null : (
        <p className="notice line banner tone-bad">
          ■ No answer from the server since {new Date(since).toLocaleTimeString()}; trying again. The page
          shows what was known last.
        </p>
      )}
      {newer ? (
        <p className="notice line banner tone-warn">
          ▲ The server has a newer console.
          <Button onClick={() => window.location.reload()}>Reload</Button>
        </p>
      ) : null}
    </div>
  )
}
