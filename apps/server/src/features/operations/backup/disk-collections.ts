import { DatabaseSync } from '@photostructure/sqlite'
import type { ReferredContent } from '../../files/index.js'

// A server may have more contents than fit into memory.

/** A set of strings that is on disk, of any size. */
export interface DiskSet extends Disposable {
  add(value: string): void
  has(value: string): boolean
}

export function createDiskSet(): DiskSet {
  const database = openTemporary('create table entries (value text primary key) without rowid')
  const insert = database.prepare('insert or ignore into entries values (?)')
  const select = database.prepare('select 1 from entries where value = ?')
  return {
    add: (value) => void insert.run(value),
    has: (value) => select.get(value) !== undefined,
    [Symbol.dispose]: () => database.close(),
  }
}

/** Contents by key, of any number. */
export interface ContentList extends Disposable {
  readonly count: number
  add(content: ReferredContent): void
  /** All of them in pages, by key. */
  pages(size: number): Generator<ReferredContent[]>
}

/** A copy of the list in the database, so that the snapshot need not stay open while contents are copied. */
export function createContentList(): ContentList {
  const database = openTemporary(
    'create table contents (key text primary key, size integer, sha256 text) without rowid',
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

/** Opens a database without a name: SQLite removes its file at the end, the system if the process is killed. */
function openTemporary(table: string): InstanceType<typeof DatabaseSync> {
  const database = new DatabaseSync('')
  database.exec(`pragma journal_mode = off; pragma synchronous = off; ${table}`)
  return database
}
