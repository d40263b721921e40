import { Menu as Base } from '@base-ui/react/menu'
import type { ReactNode } from 'react'

export interface MenuItem {
  readonly label: string
  readonly onSelect: () => void
  readonly checked?: boolean
  readonly danger?: boolean
}

export const Menu = ({
  label,
  children,
  items,
}: {
  label: string
  children: ReactNode
  items: readonly MenuItem[]
}) => (
  <Base.Root>
    <Base.Trigger className="button button-quiet" aria-label={label}>
      {children}
    </Base.Trigger>
    <Base.Portal>
      <Base.Positioner sideOffset={6} align="end" className="layer">
        <Base.Popup className="popup menu">
          {items.map(({ label: text, onSelect, checked, danger }) =>
            checked === undefined ? (
              <Base.Item key={text} className={`menu-item ${danger ? 'tone-bad' : ''}`} onClick={onSelect}>
                {text}
              </Base.Item>
            ) : (
              <Base.CheckboxItem
                key={text}
                className="menu-item"
                checked={checked}
                onCheckedChange={onSelect}
              >
                <span className="menu-check" aria-hidden="true">
                  {checked ? '✓' : ''}
                </span>
                {text}
              </Base.CheckboxItem>
            ),
          )}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)
