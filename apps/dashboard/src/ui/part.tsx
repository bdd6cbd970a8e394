import type { ReactNode } from 'react'
import { Name } from './name.js'
import styles from './part.module.css'

/** The content of a tab that is read and filled in: of a width that lines are easy to read in. */
export function Pane({ children }: { children: ReactNode }) {
  return <div className={styles.pane}>{children}</div>
}

interface PartProps {
  title: string
  /** One sentence about what it is for. */
  hint?: ReactNode
  children: ReactNode
}

/** A part of a pane under a heading. */
export function Part({ title, hint, children }: PartProps) {
  return (
    <section className={styles.part}>
      <h2>{title}</h2>
      {hint !== undefined && <p className="muted">{hint}</p>}
      {children}
    </section>
  )
}

interface ItemListProps<Item> {
  items: readonly Item[]
  idOf: (item: Item) => string
  /** The name of the item, and facts about it in a second line. */
  describe: (item: Item) => { name: ReactNode; facts: ReactNode }
  /** Buttons of an item. */
  actions?: (item: Item) => ReactNode
}

/** Few items with a name, facts and buttons each. */
export function ItemList<Item>({ items, idOf, describe, actions }: ItemListProps<Item>) {
  return (
    <ul className={styles.list}>
      {items.map((item) => {
        const { name, facts } = describe(item)
        return (
          <li key={idOf(item)}>
            <div className={styles.item}>
              <strong>{typeof name === 'string' ? <Name>{name}</Name> : name}</strong>
              <div className="muted">{facts}</div>
            </div>
            {actions?.(item)}
          </li>
        )
      })}
    </ul>
  )
}
