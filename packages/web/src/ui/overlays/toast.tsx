import { useSyncExternalStore } from 'react'

interface Note {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'bad'
}

const SHOWN_MS = 6_000
const MOST = 4
let notes: readonly Note[] = []
let count = 0
const watchers = new Set<() => void>()
const change = (next: readonly Note[]): void => {
  notes = next
  for (const watcher of watchers) watcher()
}

/** Says in a corner what has happened. Errors that the user must act on belong beside what they did. */
export const toast = (text: string, tone: Note['tone'] = 'good'): void => {
  const note = { id: ++count, text, tone }
  change([...notes, note].slice(-MOST))
  setTimeout(() => change(notes.filter((other) => other !== note)), SHOWN_MS)
}

/** What a call that succeeded says: its message and warnings, a text, or nothing. */
export type Said =
  | string
  | {
      readonly message?: string
      readonly warnings?: readonly { readonly field: string; readonly message: string }[]
    }
  | void

export const say = (said: Said): void => {
  const { message, warnings = [] } = typeof said === 'string' ? { message: said } : (said ?? {})
  if (message !== undefined) toast(message)
  for (const { field, message: warning } of warnings) toast(`${field}: ${warning}`, 'bad')
}

export const toastError = (error: Error): void => toast(error.message, 'bad')

const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const ToastRegion = () => (
  <div className="stack toasts" role="status" aria-live="polite">
    {useSyncExternalStore(watch, () => notes).map(({ id, text, tone }) => (
      <p key={id} className={`notice toast notice-${tone}`}>
        {text}
      </p>
    ))}
  </div>
)
