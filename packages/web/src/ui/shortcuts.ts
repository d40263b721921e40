import { useEffect, useRef } from 'react'
import { useWatched, Watched } from '../watched.ts'

interface Shortcut {
  /** One key, or two after each other: `g r`. `Ctrl+k` also works with the command key, and in inputs. */
  readonly keys: string
  readonly does: string
  /** The heading in the help. */
  readonly group: string
  readonly act: () => unknown
}

/** How long the second key of a pair is waited for. */
const PAIR_MS = 1_500
const active = new Watched<readonly Shortcut[]>([])
let first = ''
let firstAt = 0

/** Lists more keys until they are dropped again. */
const add = (shortcuts: readonly Shortcut[]): (() => void) => {
  // A listener that is there is not added again.
  window.addEventListener('keydown', take)
  active.set([...active.get(), ...shortcuts])
  return () => active.set(active.get().filter((other) => !shortcuts.includes(other)))
}

/** A checkbox needs no letters: keys work after a click on one. */
const TYPING = 'input:not([type="checkbox"]), textarea, select'
const isWithin = (target: EventTarget | null, selector: string): boolean =>
  target instanceof HTMLElement && target.closest(selector) !== null

const take = (event: KeyboardEvent): void => {
  const isControl = event.ctrlKey || event.metaKey
  const key = isControl ? `Ctrl+${event.key}` : event.key
  if (event.altKey || isWithin(event.target, 'dialog, [popover]')) return
  if (!isControl && isWithin(event.target, TYPING)) return
  if (event.defaultPrevented || key === 'Shift') return
  const keys = first !== '' && event.timeStamp - firstAt < PAIR_MS ? `${first} ${key}` : key
  first = ''
  // The newest first: a screen may use a key of the shell.
  for (const entry of active.get().toReversed())
    if (entry.keys === keys && entry.act() !== false) return event.preventDefault()
  if (active.get().some((entry) => entry.keys.startsWith(`${key} `)))
    [first, firstAt] = [key, event.timeStamp]
}

/**
 * Calls `act` when the key is pressed outside inputs and dialogs, and lists it in the help (`?`). `act` returns `false` if
 * the key is not for it.
 */
export const useShortcut = (keys: string, does: string, act: () => unknown, group = 'This screen'): void => {
  const latest = useRef(act)
  useEffect(() => {
    latest.current = act
  })
  useEffect(() => {
    return add([{ keys, does, group, act: () => latest.current() }])
  }, [keys, does, group])
}

/** Many shortcuts of one group. */
export const useShortcuts = (shortcuts: readonly Shortcut[]): void => {
  useEffect(() => add(shortcuts), [shortcuts])
}

export const useShortcutList = (): readonly Shortcut[] => useWatched(active)
