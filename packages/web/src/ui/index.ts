export { Badge, OutcomeBadge, Severity, StatusBadge } from './values/badge.tsx'
export { Button, LinkButton } from './button.tsx'
export { CardTable, type CardColumn } from './lists/card-table.tsx'
export { Code, JsonView, prettyJson } from './values/code.tsx'
export { colorOf, useTheme } from './color.ts'
export { CommandLines, Commands, copy, CopyButton, CopyLine, type CommandLine } from './commands.tsx'
export { column, type Column } from './lists/column.ts'
export { DataTable, type DataTableProps } from './lists/data-table.tsx'
export { Confirm, deletion, Dialog } from './overlays/dialog.tsx'
export { ExternalLink } from './external-link.tsx'
export { Facet, FacetedList, type FacetValue } from './lists/facets.tsx'
export { Figure } from './values/figure.tsx'
export { Combobox, Field, Form, SelectField, TextField, type Texts } from './forms/field.tsx'
export { FilterBar, PRIORITY_FILTER, useFilters, type Filter } from './lists/filters.tsx'
export { FilteredList } from './lists/filtered-list.tsx'
export {
  choice,
  Fields,
  FieldsInLine,
  lines,
  suggest,
  text,
  textsOf,
  type FieldRow,
} from './forms/fields.tsx'
export { FormActions } from './forms/form-actions.tsx'
export { DialogForm, FormDialog } from './forms/form-dialog.tsx'
export { hrefWith } from './href.ts'
export { JsonField, jsonObject } from './forms/json-field.tsx'
export { KeyValues } from './values/key-values.tsx'
export { itemsOf, linesOf } from './forms/items.ts'
export { Link } from './link.tsx'
export { localTimeOf, timeOfLocal } from './forms/local-time.ts'
export { PlainTable } from './values/plain-table.tsx'
export { plural } from './values/plural.ts'
export { LongText, RawRecord } from './values/long-text.tsx'
export { Markdown } from './values/markdown.tsx'
export { Notice } from './values/notice.tsx'
export { deleteItem, Menu, menuColumn, type MenuItem } from './overlays/menu.tsx'
export { EmptyState, ErrorPanel, Loaded, OnlyFor, Page, Progress, Skeleton, usePageTitle } from './page.tsx'
export { listScreen } from './lists/list-screen.tsx'
export { More } from './lists/more.tsx'
export { recordScreen } from './record-screen.tsx'
export { ReportLink } from './report-link.tsx'
export {
  hostLink,
  itemsText,
  jobLink,
  RunLink,
  runLink,
  timeIf,
  workerLink,
  workflowLink,
} from './record-links.tsx'
export { SavedFilters } from './lists/saved-filters.tsx'
export { SeenBy } from './values/seen-by.tsx'
export { SeverityCounts, sumOf } from './values/severity-counts.tsx'
export { Share } from './values/share.tsx'
export { useShortcut } from './shortcuts.ts'
export { useQuiet } from './use-quiet.ts'
export { FindingStatus, RecordState, SEEN_COLUMNS } from './values/sightings.tsx'
export { StateViews } from './lists/state-views.tsx'
export { tab, Tabs, UrlTabs } from './tabs.tsx'
export { Opener } from './overlays/opener.tsx'
export { say, toast, toastError } from './overlays/toast.tsx'
export { Tooltip } from './overlays/tooltip.tsx'
export { useList, useWholeList } from './lists/use-list.ts'
export { Bytes, Duration, Time, useNow } from './values/values.tsx'
