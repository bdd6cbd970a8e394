import { CircleAlert, CircleCheck, CircleDashed, CircleOff, LoaderCircle } from 'lucide-react'
import styles from './status.module.css'

/** The five states that anything can be in; one icon, colour and word each, everywhere. */
export type StatusKind = 'working' | 'done' | 'waiting' | 'attention' | 'off'

const icons = {
  working: LoaderCircle,
  done: CircleCheck,
  waiting: CircleDashed,
  attention: CircleAlert,
  off: CircleOff,
} as const

const words = {
  working: 'Working',
  done: 'Done',
  waiting: 'Waiting',
  attention: 'Needs attention',
  off: 'Off',
} as const

interface StatusProps {
  kind: StatusKind
  /** The word of the thing itself, such as `Delivered`; that of the state if omitted. */
  children?: string
}

/** A state with its icon, colour and word. */
export function Status({ kind, children = words[kind] }: StatusProps) {
  const Icon = icons[kind]
  return (
    <span className={`${styles.status} ${styles[kind]}`}>
      <Icon size={14} aria-hidden="true" />
      {children}
    </span>
  )
}
