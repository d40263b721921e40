import { useEffect, useSyncExternalStore, type ReactNode } from 'react'

/** Makes a dialog, which calls `close`. */
export type DialogMaker = (close: () => void) => ReactNode

let opened: DialogMaker | undefined
const watchers = new Set<() => void>()

/** Opens the dialog of a menu. It stays when the menu goes, for example with its row of a table. */
export const openDialog = (next: DialogMaker | undefined): void => {
  opened = next
  for (const watcher of watchers) watcher()
}
const close = () => openDialog(undefined)

const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** Where that dialog is; it closes together with the screen. */
export const DialogHost = () => {
  useEffect(() => close, [])
  return useSyncExternalStore(watch, () => opened)?.(close)
}
