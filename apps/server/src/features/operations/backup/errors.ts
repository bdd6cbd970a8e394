/** The kinds of reasons for which a backup cannot be made, read or restored. */
export type BackupErrorKind =
  /** It is not there, or a piece of it is not. */
  | 'missing'
  /** Its bytes are not those that were stored. */
  | 'damaged'
  | 'passphrase'
  /** This version of the server, or this configuration, cannot use it. */
  | 'unusable'
  /** The destination of a restore is not empty. */
  | 'occupied'

/** Its message names the fault and the remedy. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
  readonly kind: BackupErrorKind

  constructor(kind: BackupErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** The error for a backup that differs from the stored one, while another backup may be complete. */
export function damagedBackup(fault: string, options?: ErrorOptions): BackupError {
  return new BackupError(
    'damaged',
    `${fault} Choose another backup with --backup; "npx botstead backup verify" shows whether it is complete.`,
    options,
  )
}
