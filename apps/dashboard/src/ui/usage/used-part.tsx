import { Status } from '../status.js'
import type { Completion } from './quotas.js'

/** The used part of a quota in words. */
export function UsedPart({ completion: { level, percent } }: { completion: Completion }) {
  if (level === 'low') return <span className="muted">{percent} % used</span>
  if (level === 'near') return <Status kind="waiting">{`Nearly used up: ${percent} %`}</Status>
  return <Status kind="attention">{`Used up: ${percent} %`}</Status>
}
