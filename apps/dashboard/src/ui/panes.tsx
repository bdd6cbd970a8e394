import type { ReactNode } from 'react'
import { useAddressSearch } from '../api/address.js'
import styles from './panes.module.css'
import { Tabs } from './tabs.js'

interface Pane {
  /** Value of the search parameter `tab` while there is room for one. */
  id: string
  label: string
  content: ReactNode
}

interface PanesProps {
  main: Pane
  side: Pane
  /** Whether both are of one width; otherwise the side is narrow. */
  isEven?: boolean
}

/** Two parts of an item side by side; one of them at a time, by tabs, where there is no room for both. */
export function Panes({ main, side, isEven = false }: PanesProps) {
  const [{ tab }] = useAddressSearch()
  const current = tab === side.id ? side.id : main.id
  return (
    <div className={`${styles.panes} ${isEven ? styles.even : ''}`}>
      <div className={styles.tabs}>
        <Tabs tabs={[main, side]} current={current} />
      </div>
      <div className={styles.columns}>
        <div className={styles.main} data-hidden={current !== main.id}>
          {main.content}
        </div>
        <div className={styles.side} data-hidden={current !== side.id}>
          {side.content}
        </div>
      </div>
    </div>
  )
}
