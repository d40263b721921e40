import { useState, type ComponentType } from 'react'
import { Button, DataTable, type DataTableProps } from '../../ui/index.ts'

interface CreatedListProps<T> extends DataTableProps<T> {
  readonly action: string
  /** The dialog that creates a row. */
  readonly create: ComponentType<{ onClose: () => void }>
}

/** A table below the button that adds to it. */
export const CreatedList = <T,>({ action, create: Create, ...table }: CreatedListProps<T>) => {
  const [creating, setCreating] = useState(false)
  return (
    <div className="stack">
      <div className="page-actions line">
        <Button kind="primary" onClick={() => setCreating(true)}>
          {action}
        </Button>
      </div>
      <DataTable {...table} />
      {creating ? <Create onClose={() => setCreating(false)} /> : null}
    </div>
  )
}
