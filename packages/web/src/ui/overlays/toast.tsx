import { useWatched, Watched } from '../../watched.ts'
import { Notice } from '../values/notice.tsx'

interface Note {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'bad'
}

const SHOWN_MS = 6_000
const MOST = 4
const notes = new Watched<readonly Note[]>([])
let count = 0

/** Says in a corner what has happened. Errors that the user must act on belong beside what they did. */
export const toast = (text: string, tone: Note['tone'] = 'good'): void => {
  const note = { id: ++count, text, tone }
  notes.set([...notes.get(), note].slice(-MOST))
  setTimeout(() => notes.set(notes.get().filter((other) => other !== note)), SHOWN_MS)
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

export const ToastRegion = () => (
  <div className="stack toasts" role="status" aria-live="polite">
    {useWatched(notes).map(({ id, text, tone }) => (
      <Notice key={id} tone={tone} className="toast">
        {text}
      </Notice>
    ))}
  </div>
)
