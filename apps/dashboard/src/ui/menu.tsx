import { EllipsisVertical } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from './button.js'
import styles from './menu.module.css'

interface MenuItem {
  label: string
  /** A second line. */
  hint?: string
  /** The key that does the same. */
  shortcut?: string
  isDangerous?: boolean
  isDisabled?: boolean
  onSelect: () => void
}

interface MenuProps {
  /** Name of the menu for those who do not see it. */
  label: string
  items: readonly MenuItem[]
  /** The content of the button that opens it; three dots if omitted. */
  trigger?: ReactNode
}

/** A menu of actions. Not modal, because locking the scroll needs a style that the policy refuses. */
export function Menu({ label, items, trigger }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        {trigger ?? (
          <Button kind="quiet" icon={<EllipsisVertical size={16} />} aria-label={label} />
        )}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={styles.menu} align="end" sideOffset={4}>
          {items.map(({ label: name, hint, shortcut, isDangerous, isDisabled, onSelect }) => (
            <DropdownMenu.Item
              key={name}
              className={`${styles.item} ${isDangerous === true ? styles.danger : ''}`}
              disabled={isDisabled === true}
              onSelect={onSelect}
            >
              <span>
                {name}
                {hint !== undefined && <span className={styles.hint}>{hint}</span>}
              </span>
              {shortcut !== undefined && <kbd>{shortcut}</kbd>}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
