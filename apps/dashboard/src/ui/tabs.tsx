import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import styles from './tabs.module.css'

interface Tab {
  /** Value of the search parameter; the first one stands for none. */
  id: string
  label: string
}

interface TabsProps {
  tabs: readonly Tab[]
  current: string
  /** Name of the search parameter. */
  param?: string
  /** Name of the tabs for screen readers. */
  name?: string
}

/** Tabs of an item. They are links, so that each has an address and opens in a new tab of the browser. */
export function Tabs({ tabs, current, param = 'tab', name = 'Parts' }: TabsProps) {
  const row = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is current
  useEffect(() => {
    // Beyond the edge of a narrow pane, it would else be open and not be seen there.
    row.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [current])
  return (
    <nav ref={row} className={styles.tabs} aria-label={name}>
      {tabs.map(({ id, label }) => (
        <Link
          key={id}
          to="."
          search={(before: object) => ({ ...before, [param]: id === tabs[0]?.id ? undefined : id })}
          className={styles.tab ?? ''}
          // Otherwise the first one, which adds nothing to the address, would be current with every other.
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={id === current ? 'page' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
