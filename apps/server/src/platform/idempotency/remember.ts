import type { Tx } from '../db/schema.js'

/**
 * Called by a service inside its transaction with what it made, so that the answer is remembered in
 * the same commit as the change. Undefined when the caller sent no `Idempotency-Key`.
 */
export type Remember<Made> = ((tx: Tx, made: Made) => Promise<void>) | undefined
