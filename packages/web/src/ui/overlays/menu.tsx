import type { KeyboardEvent, ReactNode } from 'react'
import { column, type Column } from '../lists/column.ts'
import { ConfirmDialog, deletion, type ConfirmDialogProps } from './dialog.tsx'
import { openDialog, type DialogMaker } from './dialog-host.ts'
import { Popover } from './popover.tsx'

export interface MenuItem {
  readonly label: string
  readonly onSelect?: () => void
  /** Or the dialog that it opens, which calls `close`. */
  readonly dialog?: DialogMaker
  readonly checked?: boolean
  readonly danger?: boolean
}

interface MenuProps {
  readonly label: string
  readonly children: ReactNode
  readonly items: readonly MenuItem[]
  /** Beside other buttons. */
  readonly framed?: boolean
}

/** Arrow keys, Home, End and the first letter move; Tab leaves. */
const move = (event: KeyboardEvent<HTMLElement>): void => {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role^=menuitem]')]
  const at = items.findIndex((item) => item === document.activeElement)
  const { key } = event
  const targets: Readonly<Record<string, HTMLElement | undefined>> = {
    ArrowDown: items[(at + 1) % items.length],
    ArrowUp: items.at(at <= 0 ? -1 : at - 1),
    Home: items[0],
    End: items.at(-1),
  }
  const letter = key.length === 1 && /\S/.test(key) ? key.toLowerCase() : undefined
  const target =
    letter === undefined
      ? targets[key]
      : [...items.slice(at + 1), ...items].find((item) =>
          item.textContent.replace('✓', '').toLowerCase().startsWith(letter),
        )
  if (key === 'Tab') event.currentTarget.hidePopover()
  if (!target) return
  event.preventDefault()
  target.focus()
}

/** Items that are checked keep the menu open. */
export const Menu = ({ label, children, items, framed = false }: MenuProps) => (
  <Popover
    role="menu"
    label={label}
    trigger={children}
    triggerLabel={label}
    triggerClass={framed ? 'button' : 'button button-quiet'}
    onKeyDown={move}
  >
    {items.map(({ label: text, onSelect, dialog, checked, danger }) => (
      <button
        key={text}
        type="button"
        role={checked === undefined ? 'menuitem' : 'menuitemcheckbox'}
        aria-checked={checked}
        tabIndex={-1}
        className={`bare menu-item ${danger === true ? 'tone-bad' : ''}`}
        onPointerEnter={({ currentTarget }) => currentTarget.focus()}
        onClick={({ currentTarget }) => {
          if (checked === undefined) currentTarget.closest<HTMLElement>('[popover]')?.hidePopover()
          onSelect?.()
          if (dialog) openDialog(dialog)
        }}
      >
        {checked === undefined ? null : (
          <span className="menu-check" aria-hidden="true">
            {checked ? '✓' : ''}
          </span>
        )}
        {text}
      </button>
    ))}
  </Popover>
)

/** The item that deletes a record, after a question. */
export const deleteItem = (
  kind: string,
  name: string,
  rest: Pick<ConfirmDialogProps, 'text' | 'refresh' | 'onConfirm'>,
): MenuItem => {
  const { trigger: label, ...question } = deletion(kind, name)
  return {
    label,
    danger: true,
    dialog: (close) => <ConfirmDialog {...question} {...rest} onClose={close} />,
  }
}

/** The column with what can be done with a row. */
export const menuColumn = <T,>(
  width: string,
  nameOf: (row: T) => string,
  itemsOf: (row: T) => readonly MenuItem[],
): Column<T> =>
  column('actions', 'Actions', width, (row) => (
    <Menu label={`Actions of ${nameOf(row)}`} items={itemsOf(row)}>
      Actions ▾
    </Menu>
  ))
