import { randomBytes } from 'node:crypto'
import pg from 'pg'

/**
 * Creates a database on the server and returns its address.
 * @param template name of the database to copy; without it, the new one is empty
 */
export async function createPostgresDatabase(
  serverUrl: string,
  template?: string,
): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const copied = template === undefined ? '' : ` template ${template}`
  // Copying the files takes half of the time of writing each of their pages to the log.
  await administrate(serverUrl, `create database ${name}${copied} strategy file_copy`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Removes a database with all connections to it. */
export async function dropPostgresDatabase(serverUrl: string, url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  await administrate(serverUrl, `drop database if exists ${name} with (force)`)
}

async function administrate(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
