import { DatabaseSync } from '@photostructure/sqlite'

/** A set of names of any number, of which only a part is in memory. */
export interface KeySet extends Disposable {
  add(name: string): void
  has(name: string): boolean
}

/** Kept in a file without a name, which SQLite removes when it is closed and the system when the process ends. */
export function createKeySet(): KeySet {
  const database = new DatabaseSync('')
  database.exec(
    'pragma journal_mode = off; pragma synchronous = off; create table names (name text primary key) without rowid',
  )
  const insert = database.prepare('insert or ignore into names values (?)')
  const select = database.prepare('select 1 from names where name = ?')
  return {
    add: (name) => void insert.run(name),
    has: (name) => select.get(name) !== undefined,
    [Symbol.dispose]: () => database.close(),
  }
}
