/** The program used a transaction against its rules. Always a mistake in the code, never of the caller. */
export class TransactionMisuseError extends Error {
  override readonly name = 'TransactionMisuseError'
}

/** The work was done but its commit failed, so nothing of it is stored. The cause is the engine's error. */
export class CommitFailedError extends Error {
  override readonly name = 'CommitFailedError'
}

/** Another process holds the database and did not let go within the busy timeout. */
export class DatabaseBusyError extends Error {
  override readonly name = 'DatabaseBusyError'
}

/** The database cannot be reached or broke the connection. The cause is the driver's error. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError'
}

/** There is no space for what was to be stored, and nothing of it was. The cause is the engine's error. */
export class DatabaseFullError extends Error {
  override readonly name = 'DatabaseFullError'
}

/** The database was migrated by a newer release, or holds a history that this program does not know. */
export class DatabaseHistoryError extends Error {
  override readonly name = 'DatabaseHistoryError'
}

/** The page token was not made by this server for this very list. */
export class InvalidPageTokenError extends Error {
  override readonly name = 'InvalidPageTokenError'
}
