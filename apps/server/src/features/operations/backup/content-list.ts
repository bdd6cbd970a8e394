import { DatabaseSync } from '@photostructure/sqlite'
import type { ReferredContent } from '../../files/index.js'

/** Contents by key, of any number: most of them are not in memory. */
export interface ContentList extends Disposable {
  readonly count: number
  add(content: ReferredContent): void
  /** All of them in pages, by key. */
  pages(size: number): Generator<ReferredContent[]>
}

/** Kept as a key set is: so that the snapshot need not stay open while contents are copied. */
export function createContentList(): ContentList {
  const database = new DatabaseSync('')
  database.exec(
    'pragma journal_mode = off; pragma synchronous = off; create table contents (key text primary key, size integer, sha256 text) without rowid',
  )
  const insert = database.prepare('insert or ignore into contents values (?, ?, ?)')
  const select = database.prepare('select * from contents where key > ? order by key limit ?')
  let count = 0
  return {
    get count() {
      return count
    },
    add({ key, size, sha256 }) {
      count += Number(insert.run(key, size, sha256).changes)
    },
    *pages(size) {
      let after = ''
      for (;;) {
        const page = select.all(after, size) as unknown as ReferredContent[]
        const last = page.at(-1)
        if (last === undefined) return
        yield page
        after = last.key
      }
    },
    [Symbol.dispose]: () => database.close(),
  }
}
