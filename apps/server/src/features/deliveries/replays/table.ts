import type { DeliveryRow } from '../store.js'

/** A replay of many deliveries, as a job with progress. */
export interface DeliveryReplaysTable {
  id: string
  workspace_id: string
  /** The bot whose deliveries are replayed; null for those of all bots of the workspace. */
  bot_id: string | null
  /** Account of the person who started it. */
  account_id: string
  /** JSON object: {@link ReplayFilter}. */
  filter: string
  /** `failed`: the job was given up. */
  state: 'running' | 'done' | 'canceled' | 'failed'
  /** Deliveries that matched at the start. */
  total: number
  /** 0 or 1: whether there were no more than `total`. */
  total_is_exact: number
  /** Deliveries that were made pending again. */
  replayed: number
  /** Deliveries that matched, and were pending when their turn came. */
  skipped: number
  /** Results of the replayed ones; the others still wait. */
  delivered: number
  failed: number
  canceled: number
  /** Time and id of the last delivery whose turn came; null at the start. */
  position: string | null
  /** 0 or 1: whether the turn of every delivery has come. */
  is_at_end: number
  /** The error with which the job was given up. */
  error: string | null
  created_at: string
  updated_at: string
  ended_at: string | null
}

/** A replayed delivery whose result has not been counted yet. */
interface ReplayedDeliveriesTable {
  replay_id: string
  delivery_id: DeliveryRow['id']
  bot_id: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    delivery_replays: DeliveryReplaysTable
    replayed_deliveries: ReplayedDeliveriesTable
  }
}
