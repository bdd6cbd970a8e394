import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely'

/** The end of a page: the sort value and the id of its last row. */
export interface Position {
  readonly value: string | number
  readonly id: string
}

/** One page of one list, as a pager made it of the request. */
export interface PageRequest<Sort extends string = string> {
  /** Column that the list is sorted by. */
  readonly sort: Sort
  readonly direction: 'asc' | 'desc'
  /** Maximum number of rows on the page. */
  readonly size: number
  /** End of the previous page; undefined for the first page. */
  readonly after: Position | undefined
  /** Makes the token of the page behind a position. */
  tokenAfter(position: Position): string
}

/** A part of a list that is in an order, without the token of the part behind it. */
export type PageRange<Sort extends string = string> = Omit<PageRequest<Sort>, 'tokenAfter'>

/** One page of a list. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  /** Undefined on the last page. */
  readonly nextToken: string | undefined
}

/**
 * Runs a select for one page: sorted by the page's column, then by `id`, both never null. The query
 * selects both columns and has no order or limit of its own; with joins, `table` names the table
 * that they belong to. Rows inserted or removed between two pages shift nothing: a page starts behind a row, not
 * behind a number of rows.
 */
export async function paginate<
  DB,
  TB extends keyof DB,
  Sort extends string,
  Row extends { id: string } & Record<Sort, string | number>,
>(
  query: SelectQueryBuilder<DB, TB, Row>,
  page: PageRequest<Sort>,
  table?: string,
): Promise<Page<Row>> {
  const rows: Row[] = await pageOf(query, page, table).execute()
  // One row more than requested shows that there is another page, without counting.
  const more = rows.length > page.size
  if (more) rows.pop()
  const last = rows.at(-1)
  if (!more || !last) return { rows, nextToken: undefined }
  return { rows, nextToken: page.tokenAfter({ value: last[page.sort], id: last.id }) }
}

/** The select of one page and of the row behind it, as {@link paginate} runs it. */
export function pageOf<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  page: PageRange,
  table?: string,
): SelectQueryBuilder<DB, TB, Row> {
  const prefix = table === undefined ? '' : `${table}.`
  const sort = sql.ref(`${prefix}${page.sort}`)
  const id = sql.ref(`${prefix}id`)
  let ordered = query
    .orderBy(sort, page.direction)
    .orderBy(id, page.direction)
    .limit(page.size + 1)
  if (page.after) {
    const comparison = page.direction === 'asc' ? sql`>` : sql`<`
    const { value, id: lastId } = page.after
    ordered = ordered.where(sql<SqlBool>`(${sort}, ${id}) ${comparison} (${value}, ${lastId})`)
  }
  return ordered
}
