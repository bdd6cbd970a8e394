import { Bug, CircleX, Info, TriangleAlert } from 'lucide-react'
import styles from './status.module.css'

/** Severity of a line of a log. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Severities, the most severe first, each with its word and the colour of charts. */
export const levels = {
  error: { Icon: CircleX, word: 'Error', color: '--attention', style: styles.attention },
  warn: { Icon: TriangleAlert, word: 'Warning', color: '--waiting', style: styles.waiting },
  info: { Icon: Info, word: 'Info', color: '--working', style: styles.working },
  debug: { Icon: Bug, word: 'Debug', color: '--off', style: styles.off },
} as const

/** The same for a word of the interface, which newer servers may add to. */
export function LevelWord({ level }: { level: string }) {
  return isLevel(level) ? <Level level={level} /> : <span className="muted">{level}</span>
}

function isLevel(level: string): level is LogLevel {
  return Object.hasOwn(levels, level)
}

/** The severity of a line with its icon, colour and word. */
export function Level({ level }: { level: LogLevel }) {
  const { Icon, word, style } = levels[level]
  return (
    <span className={`${styles.status} ${style}`}>
      <Icon size={14} aria-hidden="true" />
      {word}
    </span>
  )
}
