import { Link, useNavigate } from '@tanstack/react-router'
import {
  type ColumnDef,
  columnVisibilityFeature,
  rowSelectionFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Columns3 } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import { type FurtherPages, useFurtherPages } from '../api/queries.js'
import { Button } from './button.js'
import styles from './data-table.module.css'
import { Name } from './name.js'
import { formatNumber } from './numbers.js'
import { useRemembered } from './remembered.js'
import { useShortcuts } from './shortcuts.js'
import { ErrorPanel, Skeleton } from './states.js'

const features = tableFeatures({ columnVisibilityFeature, rowSelectionFeature })

/** A column of a list. */
export interface Column<Row> {
  /** Unique in its table; the choice of columns is remembered under it. */
  id: string
  header: string
  cell: (row: Row) => ReactNode
  /** Right-aligned, with figures of one width. */
  isNumeric?: boolean
  /** Of CSS; the width of the content if omitted. */
  width?: string
  /** Whether the reader has to choose it first. */
  isOptional?: boolean
}

/** An address below the dashboard. */
export interface ItemLink {
  to: string
  search?: Record<string, string | undefined>
}

interface DataTableProps<Row extends object> {
  /** Name of the rows, such as `Deliveries`; also the name under which the choice of columns is remembered. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  idOf: (row: Row) => string
  /** The address of the item of a row. The link covers the row, so that it opens in a new tab like any link. */
  linkOf?: (row: Row) => ItemLink
  /** Reads the item of a row that is pointed at or has the focus, before it is opened. */
  prefetch?: (row: Row) => void
  /** Id of the row whose item is open. */
  currentId?: string | undefined
  query: ListQuery
  /** The content in place of a list without rows. */
  empty: ReactNode
  /** Number of all rows, if it is known; `isAbout` where it is an estimate. */
  total?: { count: number; isAbout: boolean } | undefined
  /** The list goes to its top when this changes. */
  topOf?: unknown
  /** Acts on the selected rows; rows can be selected if given. */
  selectionActions?: (ids: readonly string[], clear: () => void) => ReactNode
}

/** The state of a query as a list shows it: that of TanStack Query. */
interface ListQuery extends FurtherPages {
  isPending: boolean
  error: unknown
  refetch: () => unknown
  isFetchingNextPage?: boolean
}

/** Rows from the end at which the next page is loaded. */
const loadAhead = 20

/**
 * A list: its header stays, its rows are made as they are scrolled to, and its pages load as the end comes near.
 * `j` and `k` move, `Enter` opens, `x` selects.
 */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, columns, rows, idOf, query, empty, total, selectionActions } = props
  const hidden = useMemo(
    () => Object.fromEntries(columns.map(({ id, isOptional }) => [id, isOptional !== true])),
    [columns],
  )
  const [chosen, choose] = useRemembered<Record<string, boolean>>(`columns of ${label}`, {})
  const definitions = useMemo(
    () =>
      columns.map(
        ({ id, header, cell }): ColumnDef<typeof features, Row> => ({
          id,
          header,
          cell: ({ row }) => {
            const content = cell(row.original)
            return typeof content === 'string' ? <Name>{content}</Name> : content
          },
        }),
      ),
    [columns],
  )
  const table = useTable({
    features,
    columns: definitions,
    data: rows,
    getRowId: idOf,
    enableRowSelection: selectionActions !== undefined,
    state: { columnVisibility: { ...hidden, ...chosen } },
  })
  const scroller = useRef<HTMLDivElement>(null)
  const models = table.getRowModel().rows
  const virtualizer = useVirtualizer({
    count: models.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 36,
    overscan: 12,
  })
  const shown = virtualizer.getVirtualItems()
  const lastShown = shown.at(-1)?.index ?? 0
  useFurtherPages(query, lastShown >= models.length - loadAhead)

  useTopOf(scroller, props.topOf)

  const selectedIds = models.filter((row) => row.getIsSelected()).map(({ id }) => id)
  useRowKeys(scroller, props, (id) => table.getRow(id).toggleSelected())

  if (query.error !== null && query.error !== undefined && rows.length === 0) {
    return <ErrorPanel error={query.error} retry={() => void query.refetch()} />
  }
  if (query.isPending) return <Skeleton lines={8} />
  if (rows.length === 0) return <div className={styles.empty}>{empty}</div>

  const before = shown[0]?.start ?? 0
  const after = virtualizer.getTotalSize() - (shown.at(-1)?.end ?? 0)
  const visible = table.getVisibleLeafColumns()
  return (
    <div className={styles.frame}>
      {selectedIds.length > 0 && (
        <div className={styles.selection} role="toolbar" aria-label="Selected rows">
          <span>{selectedIds.length} selected</span>
          {selectionActions?.(selectedIds, () => table.resetRowSelection(true))}
        </div>
      )}
      <div ref={scroller} className={styles.scroller}>
        <table className={styles.table} aria-label={label} aria-rowcount={total?.count ?? -1}>
          <thead>
            <tr>
              {selectionActions !== undefined && (
                <th scope="col" className={styles.checkbox}>
                  <input
                    type="checkbox"
                    aria-label="Select all rows that are loaded"
                    checked={table.getIsAllRowsSelected()}
                    onChange={table.getToggleAllRowsSelectedHandler()}
                  />
                </th>
              )}
              {visible.map((column) => {
                const given = columns.find(({ id }) => id === column.id)
                return (
                  <th
                    key={column.id}
                    scope="col"
                    className={numericOf(columns, column.id)}
                    style={{ width: given?.width }}
                  >
                    {given?.header}
                  </th>
                )
              })}
            </tr>
          </thead>
          <tbody>
            {before > 0 && <tr style={{ height: before }} />}
            {shown.map(({ index }) => {
              const row = models[index]
              if (row === undefined) return null
              return (
                <tr
                  key={row.id}
                  data-row={row.id}
                  aria-rowindex={index + 2}
                  aria-current={row.id === props.currentId ? 'true' : undefined}
                  aria-selected={selectionActions === undefined ? undefined : row.getIsSelected()}
                >
                  {selectionActions !== undefined && (
                    <td className={styles.checkbox}>
                      <input
                        type="checkbox"
                        aria-label="Select"
                        checked={row.getIsSelected()}
                        onChange={row.getToggleSelectedHandler()}
                      />
                    </td>
                  )}
                  {row.getVisibleCells().map((cell, position) => (
                    <td key={cell.id} className={numericOf(columns, cell.column.id)}>
                      {position === 0 && props.linkOf !== undefined ? (
                        <Link
                          {...keepFilters(props.linkOf(row.original))}
                          className={styles.link ?? ''}
                          onMouseEnter={() => props.prefetch?.(row.original)}
                          onFocus={() => props.prefetch?.(row.original)}
                        >
                          <table.FlexRender cell={cell} />
                        </Link>
                      ) : (
                        <table.FlexRender cell={cell} />
                      )}
                    </td>
                  ))}
                </tr>
              )
            })}
            {after > 0 && <tr style={{ height: after }} />}
          </tbody>
        </table>
      </div>
      <ListFooter loaded={rows.length} query={query} total={total}>
        <ColumnChoice
          columns={columns}
          isShown={(id) => table.getColumn(id)?.getIsVisible() ?? false}
          change={(id, isShown) => choose({ ...chosen, [id]: isShown })}
        />
      </ListFooter>
    </div>
  )
}

interface ListFooterProps {
  /** Number of rows that are loaded. */
  loaded: number
  query: ListQuery
  total: DataTableProps<object>['total']
  children: ReactNode
}

/** The counts of a list, and the state of the page that is loaded next. */
function ListFooter({ loaded, query, total, children }: ListFooterProps) {
  return (
    <footer className={styles.footer}>
      <span>{describeCount(loaded, query.hasNextPage === true, total)}</span>
      {query.isFetchingNextPage === true && <span role="status">Loading more</span>}
      {query.isFetchNextPageError === true && query.isFetchingNextPage !== true && (
        <span role="alert">
          More could not be loaded.{' '}
          <Button kind="quiet" onClick={() => void query.fetchNextPage?.()}>
            Try again
          </Button>
        </span>
      )}
      {children}
    </footer>
  )
}

/** Scrolls a list to its top when a value changes. */
function useTopOf(scroller: React.RefObject<HTMLDivElement | null>, value: unknown): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change that counts
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 })
  }, [value])
}

/** The address of an item with the filters of its list, which stays beside it. */
function keepFilters({ to, search }: ItemLink) {
  return { to, search: (before: Record<string, string | undefined>) => ({ ...before, ...search }) }
}

function numericOf<Row>(columns: readonly Column<Row>[], id: string): string | undefined {
  return columns.find((column) => column.id === id)?.isNumeric === true ? 'numeric' : undefined
}

/** Never hides that there is more: `40`, `200 of about 12,400`, `200, more below`. */
function describeCount(
  loaded: number,
  hasMore: boolean,
  total: DataTableProps<object>['total'],
): string {
  const shown = formatNumber(loaded)
  if (total !== undefined && (hasMore || total.count > loaded)) {
    return `${shown} of ${total.isAbout ? 'about ' : ''}${formatNumber(total.count)}`
  }
  return hasMore ? `${shown}, more below` : shown
}

interface ColumnChoiceProps<Row> {
  columns: readonly Column<Row>[]
  isShown: (id: string) => boolean
  change: (id: string, isShown: boolean) => void
}

function ColumnChoice<Row>({ columns, isShown, change }: ColumnChoiceProps<Row>) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <Button kind="quiet" icon={<Columns3 size={14} />} aria-label="Choose columns" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={styles.choice} align="end">
          {columns.slice(1).map(({ id, header }) => (
            <DropdownMenu.CheckboxItem
              key={id}
              className={styles.choiceItem}
              checked={isShown(id)}
              onCheckedChange={(isChecked) => change(id, isChecked)}
              onSelect={(event) => event.preventDefault()}
            >
              <span className={styles.tick}>
                <DropdownMenu.ItemIndicator>✓</DropdownMenu.ItemIndicator>
              </span>
              {header}
            </DropdownMenu.CheckboxItem>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

/** Moves between the links of the rows, and selects. */
function useRowKeys<Row extends object>(
  scroller: React.RefObject<HTMLDivElement | null>,
  { rows, idOf, linkOf, currentId, selectionActions }: DataTableProps<Row>,
  toggle: (id: string) => void,
): void {
  const navigate = useNavigate()
  // The first link of a row leads to its item; cells may have others.
  const linksOf = () =>
    [...(scroller.current?.querySelectorAll('tr[data-row]') ?? [])].flatMap(
      (row) => row.querySelector<HTMLElement>('a') ?? [],
    )
  const move = (by: number) => {
    const links = linksOf()
    const at = links.indexOf(document.activeElement as HTMLElement)
    links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + by))]?.focus()
  }
  const open = (by: number) => {
    const at = rows.findIndex((row) => idOf(row) === currentId)
    const next = at < 0 ? undefined : rows[at + by]
    if (next !== undefined && linkOf !== undefined) void navigate(keepFilters(linkOf(next)))
  }
  useShortcuts({
    j: { label: 'Next row', run: () => move(1) },
    k: { label: 'Previous row', run: () => move(-1) },
    ']': { label: 'Open the next item of the list', run: () => open(1) },
    '[': { label: 'Open the previous item of the list', run: () => open(-1) },
    ...(selectionActions !== undefined && {
      x: {
        label: 'Select the row',
        run: () => {
          const id = document.activeElement?.closest('tr')?.dataset.row
          if (id !== undefined) toggle(id)
        },
      },
    }),
  })
}
