import { ExtractionError } from './extraction-error.js'

/**
 * A file that is not what its name and type say, or only a part of it.
 *
 * @param what the format with its article, such as `a Word document`
 */
export function damaged(what: string, cause: unknown): ExtractionError {
  const detail = cause instanceof Error ? cause.message : String(cause)
  return new ExtractionError(
    'damaged',
    `The file cannot be read as ${what}: it is damaged or of another format (${oneLine(detail)}). ` +
      'Open it in the program it was made with, save it anew and upload it again.',
    { cause },
  )
}

/** A file that only who knows a password may read. */
export function passwordProtected(what: string): ExtractionError {
  return new ExtractionError(
    'protected',
    `The file is ${what} protected by a password. Save it without the password and upload it again.`,
  )
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 200).replace(/\.$/, '')
}
