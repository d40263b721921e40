import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'

interface Tab {
  readonly id: string
  readonly label: ReactNode
  readonly content?: ReactNode
}

interface TabsProps {
  readonly label: string
  readonly value: string
  readonly onChange: (id: string) => void
  readonly tabs: readonly Tab[]
}

/** Keep `value` in the URL: `const [{ tab = 'steps' }, set] = useFilters(['tab'])`. */
export const Tabs = ({ label, value, onChange, tabs }: TabsProps) => (
  <Base.Root value={value} onValueChange={(id) => onChange(String(id))}>
    <Base.List className="tabs" aria-label={label}>
      {tabs.map(({ id, label: text }) => (
        <Base.Tab key={id} value={id} className="tab">
          {text}
        </Base.Tab>
      ))}
    </Base.List>
    {tabs.map(({ id, content }) =>
      content === undefined ? null : (
        <Base.Panel key={id} value={id} className="tab-panel">
          {content}
        </Base.Panel>
      ),
    )}
  </Base.Root>
)
