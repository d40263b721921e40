import { useId, type KeyboardEvent, type ReactNode } from 'react'
import { useFilters } from './lists/filters.tsx'

interface Tab {
  readonly id: string
  readonly label: ReactNode
  readonly content?: ReactNode
}

export const tab = (id: string, label: ReactNode, content: ReactNode): Tab => ({ id, label, content })

interface TabsProps {
  readonly label: string
  readonly value: string
  readonly onChange: (id: string) => void
  readonly tabs: readonly Tab[]
}

/** The tabs of a screen: the URL keeps which one is chosen. */
export const UrlTabs = ({
  name = 'tab',
  first,
  ...rest
}: Pick<TabsProps, 'label' | 'tabs'> & {
  /** The name in the URL. */
  readonly name?: string
  /** The id of the tab that is shown first; default the first one. */
  readonly first?: string
}) => {
  const [{ [name]: value = first ?? '' }, set] = useFilters([name])
  return <Tabs {...rest} value={value} onChange={(next) => set({ [name]: next })} />
}

/** A value that is no id shows the first tab. */
export const Tabs = ({ label, value, onChange, tabs }: TabsProps) => {
  const base = useId()
  const known = tabs.find(({ id }) => id === value) ?? tabs[0]
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const at = known ? tabs.indexOf(known) : 0
    const targets: Readonly<Record<string, Tab | undefined>> = {
      ArrowRight: tabs[(at + 1) % tabs.length],
      ArrowLeft: tabs.at(at - 1),
      Home: tabs[0],
      End: tabs.at(-1),
    }
    const target = targets[event.key]
    if (!target) return
    event.preventDefault()
    onChange(target.id)
    document.getElementById(`${base}-${target.id}`)?.focus()
  }
  return (
    <div>
      <div role="tablist" className="tabs" aria-label={label}>
        {tabs.map(({ id, label: text, content }) => (
          <button
            key={id}
            id={`${base}-${id}`}
            type="button"
            role="tab"
            className="bare tab"
            aria-selected={id === known?.id}
            aria-controls={id === known?.id && content !== undefined ? `${base}-panel` : undefined}
            tabIndex={id === known?.id ? 0 : -1}
            onClick={() => onChange(id)}
            onKeyDown={move}
          >
            {text}
          </button>
        ))}
      </div>
      {known?.content === undefined ? null : (
        <div
          key={known.id}
          id={`${base}-panel`}
          role="tabpanel"
          aria-labelledby={`${base}-${known.id}`}
          className="tab-panel"
        >
          {known.content}
        </div>
      )}
    </div>
  )
}
