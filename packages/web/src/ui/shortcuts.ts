import { useEffect, useRef, useSyncExternalStore } from 'react'

interface Shortcut {
  readonly keys: string
  readonly does: string
}

let active: readonly Shortcut[] = []
const watchers = new Set<() => void>()
const change = (next: readonly Shortcut[]): void => {
  active = next
  for (const watcher of watchers) watcher()
}

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, dialog, [popover]') !== null

/**
 * Calls `act` when the key is pressed outside inputs and dialogs, and lists it in the help (`?`). `act` returns `false` if
 * the key is not for it.
 */
export const useShortcut = (key: string, does: string, act: () => unknown): void => {
  const latest = useRef(act)
  useEffect(() => {
    latest.current = act
  })
  useEffect(() => {
    const entry = { keys: key, does }
    const take = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return
      if (latest.current() !== false) event.preventDefault()
    }
    window.addEventListener('keydown', take)
    change([...active, entry])
    return () => {
      window.removeEventListener('keydown', take)
      change(active.filter((other) => other !== entry))
    }
  }, [key, does])
}

export const useShortcutList = (): readonly Shortcut[] =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => active,
  )
