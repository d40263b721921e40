import { useEffect, type ReactNode } from 'react'
import { useWatched, Watched } from '../../watched.ts'

/** Makes a dialog, which calls `close`. */
export type DialogMaker = (close: () => void) => ReactNode

const opened = new Watched<DialogMaker | undefined>(undefined)

/** Opens the dialog of a menu. It stays when the menu goes, for example with its row of a table. */
export const openDialog = (next: DialogMaker): void => opened.set(next)
const close = () => opened.set(undefined)

/** Where that dialog is; it closes together with the screen. */
export const DialogHost = () => {
  useEffect(() => close, [])
  return useWatched(opened)?.(close)
}
